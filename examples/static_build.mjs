// A static build in one call: writes a file for each page of a site.
//
//   node examples/static_build.mjs http://127.0.0.1:8080 main out
//
// `render` stands for the frontend. It gets a row of /api/pages: path, url, locale, contentType,
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

let written = 0;
for await (const page of pages()) {
  const file = join(folder, decodeURI(page.path), "index.html");
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, render(page));
  written += 1;
}
console.log(`${written} pages`);
