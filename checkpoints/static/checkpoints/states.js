// A state's text as a tree that opens where it is clicked; numbers keep the digits they were sent with.
const AT_ONCE = 200;

class Num {
	constructor(text) {
		this.text = text;
	}
}

const exact = (_key, value, context) =>
	typeof value === "number" ? new Num(context?.source ?? String(value)) : value;

const isBranch = (value) => value !== null && typeof value === "object" && !(value instanceof Num);

function element(tag, className, text) {
	const made = document.createElement(tag);
	if (className) made.className = className;
	if (text !== undefined) made.textContent = text;
	return made;
}

function leaf(value) {
	if (value instanceof Num) return element("span", "number", value.text);
	if (typeof value === "string") return element("span", "string", JSON.stringify(value));
	return element("span", "word", String(value));
}

function named(key) {
	return typeof key === "number" ? element("span", "count", `${key} `) : element("span", "key", `${key}: `);
}

function line(key, value) {
	if (isBranch(value)) return branch(key, value);
	const made = element("div", "leaf");
	if (key !== null) made.append(named(key));
	made.append(leaf(value));
	return made;
}

function branch(key, value) {
	const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
	const made = element("details");
	const summary = element("summary");
	if (key !== null) summary.append(named(key));
	summary.append(element("span", "count", Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`));
	made.append(summary);
	made.addEventListener("toggle", () => made.open && fill(made, entries));
	made.fill = () => fill(made, entries);
	return made;
}

function fill(made, entries) {
	if (made.filled) return;
	made.filled = true;
	const body = element("div");
	made.append(body);
	let shown = 0;
	const more = element("button");
	more.type = "button";
	const next = () => {
		for (const [key, value] of entries.slice(shown, shown + AT_ONCE)) body.insertBefore(line(key, value), more.parentNode ? more : null);
		shown += AT_ONCE;
		if (shown >= entries.length) more.remove();
		else {
			more.textContent = `${entries.length - shown} more`;
			body.append(more);
		}
	};
	more.addEventListener("click", next);
	next();
}

const OPENED_AT_MOST = 2000;

function openAll(tree) {
	for (let opened = 0; opened < OPENED_AT_MOST; ) {
		const closed = [...tree.querySelectorAll("details:not([open])")];
		if (!closed.length) return;
		for (const each of closed.slice(0, OPENED_AT_MOST - opened)) {
			each.fill();
			each.open = true;
		}
		opened += closed.length;
	}
}

for (const section of document.querySelectorAll("[data-state]")) {
	let state;
	try {
		state = JSON.parse(section.querySelector("pre").textContent, exact);
	} catch {
		continue; // deeper than this browser reads: the text is there
	}
	const tree = section.querySelector("[data-tree]");
	const root = branch(null, state);
	tree.append(root);
	tree.hidden = false;
	root.fill();
	root.open = true;
	section.querySelector("[data-raw]").open = false;
	const [expand, collapse] = [section.querySelector("[data-expand]"), section.querySelector("[data-collapse]")];
	expand.hidden = collapse.hidden = false;
	expand.addEventListener("click", () => openAll(tree));
	collapse.addEventListener("click", () => {
		for (const each of root.querySelectorAll("details")) each.open = false;
	});
}
