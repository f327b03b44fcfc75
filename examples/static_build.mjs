// A static build in one call: writes a file for each page of a site.
//
//   node examples/static_build.mjs http://127.0.0.1:8080 main out
//
// The site has one host. `render` stands for the frontend. It gets a row of /api/pages: path, url, locale, contentType,
// documentId, rule, params, lastModified.
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

const [service, site, folder] = process.argv.slice(2);

function render(page) {
  return `<!doctype html><html lang="${page.locale}"><link rel="canonical" href="${page.url}">
<title>${page.contentType} ${page.documentId}</title></html>\n`;
}

async function* pages() {
  const headers = { Accept: "application/x-ndjson" };
  const response = await fetch(`${service}/api/pages?site=${encodeURIComponent(site)}`, { headers });
  if (!response.ok) throw new Error(`status ${response.status}: ${await response.text()}`);
  let [rest, count, last] = ["", 0, {}];
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const row of lines.map((line) => JSON.parse(line))) {
      if (row.path === undefined) last = row;
      else count += 1, yield row;
    }
  }
  // Without the last line something is missing.
  if (last.count !== count) throw new Error(`${count} pages of ${last.count}`);
}

// Whether a path of several content types leads to the document of this row: the documents decide, or
// else the rules.
async function isOwner({ path, contentType, documentId }) {
  const query = new URLSearchParams({ site, pathname: path });
  let response = await fetch(`${service}/api/resolve?${query}`);
  if (response.status === 501) response = await fetch(`${service}/api/get-content-type?${query}`);
  // It was unpublished since.
  if (response.status === 404) return false;
  if (!response.ok) throw new Error(`status ${response.status}: ${await response.text()}`);
  const { data } = await response.json();
  const isOfType = data.matched?.collectionType === contentType;
  return data.kind === undefined ? isOfType : isOfType && data.documentId === documentId;
}

const written = new Map();
for await (const page of pages()) {
  const url = written.get(page.path);
  if (url !== undefined && url !== page.url) throw new Error(`${page.url}: there are several hosts`);
  if (url !== undefined && !(await isOwner(page))) continue;
  const file = join(folder, decodeURI(page.path), "index.html");
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, render(page));
  written.set(page.path, page.url);
}
console.log(`${written.size} pages`);
