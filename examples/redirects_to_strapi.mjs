// Creates the redirects of Drupal or TYPO3 as documents in Strapi, for `[[site.redirects]]`.
//
//   STRAPI_TOKEN=… node examples/redirects_to_strapi.mjs redirects.ndjson \
//     --endpoint http://127.0.0.1:1337/api/redirects
//
// docs/redirects.md has the queries that write the file: one row of the table as JSON a line. Rows that
// cannot be a document are written to `--left-out` with a reason. A second run creates what is missing.
// Ends with status 0 if all rows are in Strapi, 1 if some are left out, 2 if it could not run.
import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";

/** Why a row cannot be a document. */
class LeftOut extends Error {}

/** The statuses that a document can have. 303 is for forms, so for a page it is a 302. */
const STATUSES = { 301: 301, 302: 302, 303: 302, 307: 307, 308: 308, 410: 410 };

function readOptions() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      endpoint: { type: "string" },
      // The fields of the content type, as in `[[site.redirects]]`.
      from: { type: "string", default: "from" },
      to: { type: "string", default: "to" },
      status: { type: "string", default: "code" },
      // The pages that targets name by their id: lines of {"id": 12, "language": 0, "path": "/about"}.
      targets: { type: "string" },
      // TYPO3: rows of this host and of all hosts.
      host: { type: "string" },
      // Drupal: the prefix of each language in paths, such as en=,de=de; without it, the language.
      prefixes: { type: "string", default: "" },
      "left-out": { type: "string", default: "left-out.ndjson" },
    },
  });
  if (positionals.length !== 1 || !values.endpoint || !process.env.STRAPI_TOKEN) {
    throw new Error("usage: STRAPI_TOKEN=… redirects_to_strapi.mjs FILE --endpoint URL; docs/redirects.md");
  }
  const prefixes = values.prefixes
    .split(",")
    .filter(Boolean)
    .map((pair) => pair.split("="));
  return { ...values, file: positionals[0], prefixes: new Map(prefixes) };
}

/** The lines of a file as { line, row }. */
async function readRows(file) {
  const lines = (await readFile(file, "utf8")).split("\n").map((text, at) => ({ text, line: at + 1 }));
  return lines
    .filter(({ text }) => text.trim())
    .map(({ text, line }) => {
      try {
        return { line, row: JSON.parse(text) };
      } catch (error) {
        throw new Error(`${file}, line ${line}: ${error.message}`);
      }
    });
}

/** A path as the content type has it: with a slash in front, and a `%` that encodes nothing as `%25`. */
const asPath = (text) => `/${text.replace(/^\/+/, "").replace(/%(?![0-9A-Fa-f]{2})/g, "%25")}`;

/** A page of `--targets` as { language, path }: in this language, in none, or in its only one. */
function pageOf(targets, id, language) {
  const pages = targets.get(id) ?? [];
  if (pages.length === 0) throw new LeftOut(`target_not_in_targets: ${id}`);
  const inLanguage = (wanted) => pages.find((page) => String(page.language ?? "und") === wanted);
  const page = inLanguage(language) ?? inLanguage("und") ?? inLanguage("0");
  if (!page && pages.length > 1) throw new LeftOut(`target_in_several_languages: ${id}`);
  return page ?? pages[0];
}

const isTrue = (value) => value === true || Number(value) === 1;

/** A row of the table `redirect` of Drupal's module Redirect, as { from, to, status }. */
function fromDrupal(row, { targets, prefixes }) {
  if (row.enabled !== undefined && !isTrue(row.enabled)) throw new LeftOut("disabled");
  // A serialized array; `a:0:{}` and `N;` are empty.
  if (!["", "a:0:{}", "N;"].includes(row.redirect_source__query ?? "")) throw new LeftOut("query");
  const withPrefix = (path, language = "und") => {
    const prefix = ["und", "zxx"].includes(language) ? "" : (prefixes.get(language) ?? language);
    return prefix ? `/${prefix}${path === "/" ? "" : path}` : path;
  };

  const uri = row.redirect_redirect__uri ?? "";
  const [, scheme, rest] = /^(internal|entity|base|route):(.*)$/.exec(uri) ?? [];
  let to = uri;
  if (scheme !== undefined) {
    const path = rest.endsWith("<front>") ? "/" : `/${rest.replace(/^\/+/, "")}`;
    const [, id, suffix] = /^(\/(?:node|taxonomy\/term|media|user)\/\d+)([?#].*)?$/.exec(path) ?? [];
    const page = id === undefined ? { path, language: row.language } : pageOf(targets, id, row.language);
    to = withPrefix(page.path, page.language) + (suffix ?? "");
  }
  const from = withPrefix(asPath(row.redirect_source__path ?? ""), row.language);
  return { from, to, status: row.status_code };
}

/** A row of the table `sys_redirect` of TYPO3, as { from, to, status }. */
function fromTypo3(row, { targets, host }) {
  if (isTrue(row.disabled)) throw new LeftOut("disabled");
  if (isTrue(row.is_regexp)) throw new LeftOut("regular_expression");
  if (Number(row.endtime) > 0 && Number(row.endtime) * 1000 < Date.now()) throw new LeftOut("expired");
  if (Number(row.starttime) * 1000 > Date.now()) throw new LeftOut("scheduled");
  if (host && !["*", "", host].includes(row.source_host)) throw new LeftOut(`other_host: ${row.source_host}`);
  if (row.source_path.includes("?")) throw new LeftOut("query");

  let to = row.target ?? "";
  if (to.startsWith("t3://")) {
    const link = new URL(to);
    if (link.host !== "page") throw new LeftOut(`target_is_no_page: ${to}`);
    const { uid, _language: language = "0" } = Object.fromEntries(link.searchParams);
    to = pageOf(targets, uid, language).path + link.hash;
  }
  return { from: asPath(row.source_path), to, status: row.target_statuscode };
}

/** Which system a row is from. */
function converterOf(row) {
  if ("redirect_source__path" in row) return fromDrupal;
  if ("source_path" in row) return fromTypo3;
  throw new LeftOut("unknown_columns");
}

/** A row as { from, to, status }, which the content type can have. */
function convert(row, context) {
  const { from, to, status } = converterOf(row)(row, context);
  if (/[?#]/.test(from)) throw new LeftOut("query");
  // In a document it stands for all paths below.
  if (from.includes("*")) throw new LeftOut("asterisk");
  if (!(status in STATUSES)) throw new LeftOut(`status: ${status}`);
  if (!to && Number(status) !== 410) throw new LeftOut("no_target");
  return { from, to, status: STATUSES[status] };
}

/** Strapi's REST API of the content type. */
function strapi(endpoint) {
  const headers = { Authorization: `Bearer ${process.env.STRAPI_TOKEN}`, "Content-Type": "application/json" };
  const request = async (url, init) => {
    const response = await fetch(url, { ...init, headers });
    const body = await response.json().catch(() => ({}));
    if (response.ok) return body;
    const message = body.error?.message ?? `status ${response.status}`;
    // What concerns one document; anything else would fail for each row.
    if (response.status === 400) throw new LeftOut(`refused: ${message}`);
    throw new Error(`${init?.method ?? "GET"} ${url}: ${response.status} ${message}`);
  };
  return {
    async existing(field) {
      const found = new Set();
      for (let page = 1, pageCount = 1; page <= pageCount; page += 1) {
        const query = `fields[0]=${field}&sort=documentId&pagination[page]=${page}&pagination[pageSize]=100&status=draft`;
        const { data, meta } = await request(`${endpoint}?${query}`);
        for (const document of data) found.add(document[field]);
        ({ pageCount } = meta.pagination);
      }
      return found;
    },
    create: (data) => request(endpoint, { method: "POST", body: JSON.stringify({ data }) }),
  };
}

async function main() {
  const options = readOptions();
  const targets = new Map();
  for (const { row } of options.targets ? await readRows(options.targets) : []) {
    targets.set(String(row.id), [...(targets.get(String(row.id)) ?? []), row]);
  }
  const rows = await readRows(options.file);
  const api = strapi(options.endpoint);
  const existing = await api.existing(options.from);

  const [seen, hosts, leftOut] = [new Map(), new Set(), []];
  let [created, present, repeated] = [0, 0, 0];
  for (const { line, row } of rows) {
    try {
      const { from, to, status } = convert(row, { ...options, targets });
      const target = `${to} ${status}`;
      if (seen.has(from) && seen.get(from) !== target)
        throw new LeftOut(`other_target_in_another_row: ${from}`);
      if (seen.has(from)) repeated += 1;
      else if (existing.has(from)) present += 1;
      else {
        await api.create({ [options.from]: from, [options.to]: to || null, [options.status]: status });
        created += 1;
      }
      seen.set(from, target);
      if (URL.canParse(to)) hosts.add(new URL(to).host);
    } catch (error) {
      if (!(error instanceof LeftOut)) throw error;
      leftOut.push({ line, reason: error.message, row });
    }
  }

  await writeFile(options["left-out"], leftOut.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  console.log(
    `${rows.length} rows: ${created} created, ${present} in Strapi already, ${repeated} repeated, ` +
      `${leftOut.length} left out${leftOut.length ? `: ${options["left-out"]}` : ""}`,
  );
  if (hosts.size) console.log(`hosts of targets, for redirect_hosts (without those of the site itself): ${[...hosts].sort().join(", ")}`);
  return leftOut.length ? 1 : 0;
}

process.exitCode = await main().catch((error) => {
  console.error(error.message);
  return 2;
});
