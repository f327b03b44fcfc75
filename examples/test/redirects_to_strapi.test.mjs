// The recipe of docs/redirects.md for lists of Drupal and TYPO3, against a scripted Strapi; what it
// creates is read by the service, if FRONTEND_MAP_BINARY names it.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import test from "node:test";
import { fileURLToPath } from "node:url";

const RECIPE = fileURLToPath(new URL("../redirects_to_strapi.mjs", import.meta.url));
const BINARY = process.env.FRONTEND_MAP_BINARY;

/** A Strapi with the content type of docs/redirects.md, in which `from` is unique. */
async function startStrapi(refuse = () => undefined) {
  const documents = [];
  const server = createServer(async (request, response) => {
    const send = (status, body) =>
      response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    const fail = (status, message) => send(status, { data: null, error: { status, message } });
    if (request.headers.authorization !== "Bearer secret") return fail(403, "Forbidden");
    const url = new URL(request.url, "http://strapi");
    if (request.method === "GET") {
      const page = Number(url.searchParams.get("pagination[page]"));
      const data = documents.slice((page - 1) * 100, page * 100);
      return send(200, {
        data,
        meta: { pagination: { page, pageCount: Math.ceil(documents.length / 100) } },
      });
    }
    let body = "";
    for await (const chunk of request) body += chunk;
    const { data } = JSON.parse(body);
    const reason =
      refuse(data) ?? (documents.some(({ from }) => from === data.from) && "This attribute must be unique");
    if (reason) return fail(400, reason);
    documents.push({ documentId: `r${documents.length}`, ...data });
    return send(201, { data });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${server.address().port}/api/redirects`;
  return { documents, endpoint, stop: () => server.close() };
}

const run = (program, args, env) =>
  new Promise((resolve) =>
    execFile(program, args, { env: { ...process.env, ...env }, maxBuffer: 1e8 }, (error, stdout, stderr) =>
      resolve({ status: error?.code ?? 0, stdout, stderr }),
    ),
  );

/** Runs the recipe in a folder of its own, with the files that `files` names. */
async function inFolder(context, files) {
  const folder = await mkdtemp(join(tmpdir(), "redirects-"));
  context.after(() => rm(folder, { recursive: true }));
  for (const [name, rows] of Object.entries(files)) {
    await writeFile(join(folder, name), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  }
  const leftOut = join(folder, "left-out.ndjson");
  return {
    folder,
    recipe: (strapi, ...args) =>
      run(
        process.execPath,
        [RECIPE, join(folder, "list"), "--endpoint", strapi.endpoint, "--left-out", leftOut, ...args],
        { STRAPI_TOKEN: "secret" },
      ),
    targets: join(folder, "targets"),
    leftOut: async () =>
      (await readFile(leftOut, "utf8"))
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
  };
}

const drupal = (path, uri, status = 301, more = {}) => ({
  redirect_source__path: path,
  redirect_source__query: null,
  redirect_redirect__uri: uri,
  status_code: status,
  language: "und",
  ...more,
});

const typo3 = (path, target, status = 307, more = {}) => ({
  source_host: "*",
  source_path: path,
  target,
  target_statuscode: status,
  is_regexp: 0,
  disabled: 0,
  starttime: 0,
  endtime: 0,
  ...more,
});

test("rows of Drupal become documents, and those that cannot have a reason", async (context) => {
  const list = [
    drupal("old", "internal:/new"),
    drupal("old/page", "internal:/node/12?a=1#b", 302),
    drupal("alt", "entity:node/12", 303, { language: "de" }),
    drupal("both", "internal:/node/13"),
    drupal("one", "internal:/node/14"),
    drupal("vieux", "internal:/nouveau", 301, { language: "fr" }),
    drupal("away", "https://other.example/x", 307),
    drupal("start", "internal:/<front>"),
    drupal("100% neu", "internal:/new"),
    drupal("a*b", "internal:/new"),
    drupal("with", "internal:/new", 301, { redirect_source__query: 'a:1:{s:1:"a";s:1:"1";}' }),
    drupal("off", "internal:/new", 301, { enabled: 0 }),
    drupal("lost", "internal:/node/99"),
    drupal("odd", "internal:/new", 300),
    drupal("empty", ""),
    drupal("old", "internal:/other"),
    drupal("old", "internal:/new"),
  ];
  const targets = [
    { id: "/node/12", language: "und", path: "/about" },
    { id: "/node/12", language: "de", path: "/ueber" },
    { id: "/node/13", language: "de", path: "/beide" },
    { id: "/node/13", language: "en", path: "/both" },
    { id: "/node/14", language: "de", path: "/eine" },
  ];
  const { recipe, leftOut, ...files } = await inFolder(context, { list, targets });
  const strapi = await startStrapi();
  context.after(strapi.stop);

  const first = await recipe(strapi, "--targets", files.targets, "--prefixes", "de=de,fr=");

  const left = await leftOut();
  assert.deepEqual(
    left.map(({ line, reason }) => [line, reason]),
    [
      [4, "target_in_several_languages: /node/13"],
      [10, "asterisk"],
      [11, "query"],
      [12, "disabled"],
      [13, "target_not_in_targets: /node/99"],
      [14, "status: 300"],
      [15, "no_target"],
      [16, "other_target_in_another_row: /old"],
    ],
  );
  assert.deepEqual(left[4].row, list[12]);
  assert.equal(first.status, 1);
  assert.match(first.stdout, /^17 rows: 8 created, 0 in Strapi already, 1 repeated, 8 left out: /);
  assert.match(first.stdout, /of the site itself\): other\.example\n$/);
  assert.deepEqual(
    strapi.documents.map(({ from, to, code }) => [from, to, code]),
    [
      ["/old", "/new", 301],
      ["/old/page", "/about?a=1#b", 302],
      ["/de/alt", "/de/ueber", 302],
      ["/one", "/de/eine", 301],
      ["/vieux", "/nouveau", 301],
      ["/away", "https://other.example/x", 307],
      ["/start", "/", 301],
      ["/100%25 neu", "/new", 301],
    ],
  );

  const second = await recipe(strapi, "--targets", files.targets, "--prefixes", "de=de,fr=");
  assert.match(second.stdout, /^17 rows: 0 created, 8 in Strapi already, 1 repeated, 8 left out: /);
  assert.equal(strapi.documents.length, 8);
});

test("rows of TYPO3 become documents, and those that cannot have a reason", async (context) => {
  const list = [
    typo3("/old/", "/new"),
    typo3("/page", "t3://page?uid=12#c9"),
    typo3("/seite", "t3://page?uid=12&_language=1", 301),
    typo3("/away", "https://other.example/x", 302),
    typo3("/mine", "/new", 307, { source_host: "www.example.com" }),
    typo3("#^/a/(.*)#", "/b/$1", 301, { is_regexp: 1 }),
    typo3("/theirs", "/new", 307, { source_host: "other.example" }),
    typo3("/file", "t3://file?uid=3"),
    typo3("/query?a=1", "/new"),
    typo3("/off", "/new", 307, { disabled: 1 }),
    typo3("/ended", "/new", 307, { endtime: 1 }),
    typo3("/soon", "/new", 307, { starttime: 99999999999 }),
  ];
  const targets = [
    { id: 12, language: 0, path: "/about" },
    { id: 12, language: 1, path: "/de/ueber-uns" },
  ];
  const { recipe, leftOut, ...files } = await inFolder(context, { list, targets });
  const strapi = await startStrapi();
  context.after(strapi.stop);

  const { status } = await recipe(strapi, "--targets", files.targets, "--host", "www.example.com");

  assert.equal(status, 1);
  assert.deepEqual(
    (await leftOut()).map(({ line, reason }) => [line, reason]),
    [
      [6, "regular_expression"],
      [7, "other_host: other.example"],
      [8, "target_is_no_page: t3://file?uid=3"],
      [9, "query"],
      [10, "disabled"],
      [11, "expired"],
      [12, "scheduled"],
    ],
  );
  assert.deepEqual(
    strapi.documents.map(({ from, to, code }) => [from, to, code]),
    [
      ["/old/", "/new", 307],
      ["/page", "/about#c9", 307],
      ["/seite", "/de/ueber-uns", 301],
      ["/away", "https://other.example/x", 302],
      ["/mine", "/new", 307],
    ],
  );
});

test("what Strapi refuses for one row is left out, and what fails for all ends the run", async (context) => {
  const { recipe, leftOut } = await inFolder(context, {
    list: [drupal("a", "internal:/b"), drupal("c", "internal:/d")],
  });
  const strapi = await startStrapi(({ from }) => (from === "/a" ? "from must be longer" : undefined));
  context.after(strapi.stop);
  assert.equal((await recipe(strapi)).status, 1);
  assert.deepEqual(
    (await leftOut()).map(({ reason }) => reason),
    ["refused: from must be longer"],
  );
  assert.deepEqual(
    strapi.documents.map(({ from }) => from),
    ["/c"],
  );

  const refused = await run(process.execPath, [RECIPE, "list", "--endpoint", strapi.endpoint], {
    STRAPI_TOKEN: "",
  });
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /^usage: /);
});

test("a line that is not JSON ends the run before anything is created", async (context) => {
  const { recipe, folder } = await inFolder(context, { list: [] });
  await writeFile(join(folder, "list"), `${JSON.stringify(drupal("a", "internal:/b"))}\n{"redirect`);
  const strapi = await startStrapi();
  context.after(strapi.stop);
  const { status, stderr } = await recipe(strapi);
  assert.equal(status, 2);
  assert.match(stderr, /line 2: /);
  assert.equal(strapi.documents.length, 0);
});

test(
  "of 3,000 rows none is lost, and the service redirects each that is a document",
  { skip: !BINARY },
  async (context) => {
    const words = ["a", "b c", "ü", "100%", "x*y", "é/è", "%41", "z.html", "Q"];
    let seed = 7;
    const random = (count) => (seed = (seed * 48271) % 2147483647) % count;
    const path = () => `${words[random(words.length)]}/${random(4000)}`;
    const list = Array.from({ length: 3000 }, (_, at) =>
      at % 2
        ? drupal(
            path(),
            ["internal:/en/home", "entity:node/12", "https://other.example/x", "internal:/node/9", ""][
              random(5)
            ],
            [301, 302, 307, 308, 410, 300][random(6)],
          )
        : typo3(
            `/${path()}`,
            ["/en/home", "t3://page?uid=12", "https://other.example/x", "t3://file?uid=1"][random(4)],
            [301, 302, 303, 307][random(4)],
            { is_regexp: Number(random(9) === 0) },
          ),
    );
    const targets = [
      { id: 12, path: "/en/home" },
      { id: "/node/12", path: "/en/home" },
    ];
    const { recipe, leftOut, folder, ...files } = await inFolder(context, { list, targets });
    const strapi = await startStrapi();
    context.after(strapi.stop);
    const { stdout } = await recipe(strapi, "--targets", files.targets);
    const [rows, created, present, repeated, left] = stdout.match(/\d+/g).map(Number);
    assert.equal(rows, 3000);
    assert.equal(created + present + repeated + left, 3000, stdout);
    assert.equal((await leftOut()).length, left);
    assert.equal(strapi.documents.length, created);

    const empty = { target: null, force: null, locale: null };
    await writeFile(
      join(folder, "content.json"),
      JSON.stringify({
        "api::page.page": [{ documentId: "p1", locale: "en", slug: "home" }],
        "api::redirect.redirect": strapi.documents.map((document) => ({ ...empty, ...document })),
      }),
    );
    await writeFile(
      join(folder, "settings.toml"),
      `
[server]
listen = "127.0.0.1:0"
[cms]
source = "files"
path = "content.json"
[[site]]
key = "main"
front_end_url = "https://www.example.com"
locales = ["en"]
resolve = "documents"
redirect_hosts = ["other.example"]
[[site.redirects]]
content_type = "api::redirect.redirect"
from = "from"
to = "to"
status = "code"
[[site.rule]]
content_type = "api::page.page"
template = "/{locale}/{slug}"
`,
    );
    const config = join(folder, "settings.toml");
    const problems = await run(BINARY, [
      "--config",
      config,
      "problems",
      "--site",
      "main",
      "--format",
      "ndjson",
    ]);
    assert.equal(JSON.parse(problems.stdout.trim().split("\n")[0]).count, 0, problems.stdout.slice(0, 2000));

    const service = spawn(BINARY, ["--config", config, "serve"], { stdio: ["ignore", "pipe", "ignore"] });
    context.after(async () => {
      service.kill();
      await once(service, "exit");
    });
    const [address] = await once(createInterface(service.stdout), "line");
    const response = await fetch(`http://${/[\d.]+:\d+/.exec(address)[0]}/api/redirects?site=main`);
    const { data } = await response.json();
    const listed = new Map(
      data.redirects.map(({ entry, to, status }) => [entry.documentId, `${to} ${status}`]),
    );
    for (const { documentId, to, code } of strapi.documents) {
      const target = code === 410 ? null : new URL(to, "https://www.example.com").href;
      assert.equal(listed.get(documentId), `${target} ${code}`);
    }
    assert.equal(listed.size, created);
    context.diagnostic(stdout.split("\n")[0]);
  },
);
