/** Every page as HTML and as Markdown, llms.txt, the 404 page; then each text file once more as .br and .gz. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const { pages, render, twins } = await import("../node_modules/.prerender/entry-server.js");
const DIST = "dist";
const SMALLEST = 512; // bytes; below that a smaller file saves nothing

const template = readFileSync(join(DIST, "index.html"), "utf8");
const manifest = JSON.parse(readFileSync(join(DIST, ".vite/manifest.json"), "utf8"));

for (const { slug } of pages) write(`${slug}.html`, filled(await render(slug), slug));
write("404.html", filled(await render("404"), "404"));
for (const [path, text] of Object.entries(twins)) write(path.replace(/^\/docs\//, ""), text);
rmSync(join(DIST, ".vite"), { recursive: true });
for (const file of filesIn(DIST)) compress(file);

function filled({ head, body }, slug) {
  return template
    .replace("<!--head-->", () => head + preloads(slug))
    .replace("<!--body-->", () => body);
}

/** The page's own script is fetched along with the first one, and so is what that imports. */
function preloads(slug) {
  const entry = manifest[`src/pages/${slug}.mdx`] ?? manifest[`src/pages/${slug}.md`];
  if (!entry) return "";
  const files = [entry.file, ...(entry.imports ?? []).map((name) => manifest[name].file)];
  const wanted = files.filter((file) => !template.includes(file));
  return wanted.map((file) => `<link rel="modulepreload" href="/docs/${file}">`).join("");
}

function write(name, text) {
  const file = join(DIST, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function filesIn(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function compress(file) {
  if (![".html", ".js", ".css", ".md", ".txt", ".svg", ".json"].includes(extname(file))) return;
  const bytes = readFileSync(file);
  if (bytes.length < SMALLEST) return;
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
}
