// What our own pages of the admin add to the theme: buttons that copy, and no script within a page.
document.addEventListener("click", async (event) => {
	const button = event.target.closest("[data-copy]");
	if (!button) return;
	const source = document.querySelector(button.dataset.copy);
	const text = source.value ?? source.textContent;
	try {
		await navigator.clipboard.writeText(text.trim());
	} catch {
		// The clipboard's API is there only over https and on localhost: select it for a copy by hand.
		if (source.select) source.select();
		else getSelection().selectAllChildren(source);
		document.execCommand("copy");
	}
	const label = button.querySelector("[data-label]") ?? button;
	const before = label.dataset.before ?? label.textContent;
	label.dataset.before = before;
	label.textContent = "Copied";
	setTimeout(() => {
		label.textContent = before;
	}, 2000);
});
