// The steps of the action, as a runner executes them: the real binary, a repository with a base branch, and
// a scripted API of the code host.
//
//   FRONTEND_MAP_BINARY=FILE node --test action/test/*.test.js
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ACTION = fileURLToPath(new URL("..", import.meta.url));
const BINARY = resolve(process.env.FRONTEND_MAP_BINARY ?? join(ACTION, "../target/debug/frontend-map"));
const RULE = '[[site.rule]]\ncontent_type = "api::page.page"\ntemplate = "/{locale}/{slug}"\n';
const SETTINGS = `[cms]
source = "files"
path = "content.json"

[[site]]
key = "main"
locales = ["en"]
front_end_url = "https://example.com"

${RULE}`;
const MOVED = SETTINGS.replace("/{slug}", "/p/{slug}");
const CONTENT = '{"api::page.page": [{"documentId": "b", "locale": "en", "slug": "x"}]}';

/** The `run` of each step by its name, from the file that a runner reads. */
function steps() {
  const text = readFileSync(join(ACTION, "action.yml"), "utf8");
  const found = text.matchAll(/- name: (?<name>.+)\n(?: {6,}.+\n)*? {6}run: (?<run>.+)\n/g);
  return Object.fromEntries([...found].map(({ groups: { name, run } }) => [name, run]));
}

/** A scripted API: `comments` are those of the pull request. */
async function startApi({ status = 200, comments = [] } = {}) {
  const requests = [];
  const server = createServer(async (from, to) => {
    let body = "";
    for await (const chunk of from) body += chunk;
    const { method, url, headers } = from;
    requests.push({ method, url, token: headers.authorization, ...(body && JSON.parse(body)) });
    const page = Number(new URL(url, "http://x").searchParams.get("page"));
    to.writeHead(status).end(JSON.stringify(method === "GET" ? comments.slice(100 * (page - 1), 100 * page) : {}));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${server.address().port}`, requests, server };
}

/** A checkout of a pull request: `base` are the settings of the branch `main`, `own` those in the folder. */
class Checkout {
  constructor(t, { base = SETTINGS, own = MOVED, name = "frontend-map.toml" } = {}) {
    this.folder = mkdtempSync(join(tmpdir(), "frontend-map-action-"));
    t.after(() => rmSync(this.folder, { recursive: true, force: true }));
    this.name = name;
    const path = (...names) => join(this.folder, ...names);
    this.workspace = path("workspace");
    mkdirSync(path("temp/frontend-map/node_modules/.bin"), { recursive: true });
    symlinkSync(BINARY, path("temp/frontend-map/node_modules/.bin/frontend-map"));
    mkdirSync(path("origin", dirname(name)), { recursive: true });
    const git = (cwd, ...args) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], { cwd, stdio: "pipe" });
    git(path("origin"), "init", "--quiet", "--initial-branch=main");
    writeFileSync(path("origin", dirname(name), "content.json"), CONTENT);
    if (base !== null) writeFileSync(path("origin", name), base);
    git(path("origin"), "add", ".");
    git(path("origin"), "commit", "--quiet", "--message=base");
    git(this.folder, "clone", "--quiet", "origin", "workspace");
    writeFileSync(join(this.workspace, name), own);
    writeFileSync(path("event.json"), '{"pull_request": {"number": 7}}');
    for (const file of ["output", "summary"]) writeFileSync(path(file), "");
  }

  read(name) {
    return readFileSync(join(this.folder, name), "utf8");
  }

  /** The status and the output of a step. */
  async run(step, env = {}) {
    const path = (name) => join(this.folder, name);
    const given = {
      PATH: process.env.PATH,
      RUNNER_TEMP: path("temp"),
      GITHUB_ACTION_PATH: ACTION,
      GITHUB_OUTPUT: path("output"),
      GITHUB_STEP_SUMMARY: path("summary"),
      GITHUB_EVENT_PATH: path("event.json"),
      GITHUB_REPOSITORY: "owner/site",
      GITHUB_BASE_REF: "main",
      SETTINGS: this.name,
      STRICT: "true",
      OFFLINE: "false",
      MAX_MOVED: "",
      TOKEN: "secret",
      ...env,
    };
    const child = spawn("bash", ["-eo", "pipefail", "-c", steps()[step]], { cwd: this.workspace, env: given });
    const output = { stdout: "", stderr: "" };
    for (const stream of ["stdout", "stderr"]) child[stream].on("data", (text) => (output[stream] += text));
    const [status] = await once(child, "close");
    return { status, ...output };
  }
}

const CHECK = "Check the settings";
const DIFF = "List the paths that change";
const TEXT = `### Paths that change with these settings

\`\`\`text
site main: 1 path moves

  content type        paths       move     vanish     appear    collide      after
  api::page.page          1          1          0          0          0          1

  move: api::page.page
    /en/x → /en/p/x  b en
\`\`\`
`;
const COMMENT = `<!-- frontend-map diff frontend-map.toml -->\n${TEXT}`;

test("the action installs the version of this repository", () => {
  const [, version] = readFileSync(join(ACTION, "../Cargo.toml"), "utf8").match(/^version = "(.+)"$/m);
  const text = readFileSync(join(ACTION, "action.yml"), "utf8");
  assert.match(text, new RegExp(`default: frontend-map@${version.replaceAll(".", "\\.")}\n`));
  assert.deepEqual(Object.keys(steps()), ["Install frontend-map", CHECK, DIFF]);
});

test("check annotates each finding at its line and fails by --strict alone", async (t) => {
  const twice = SETTINGS + RULE.replace("page.page", "story.story");
  const checkout = new Checkout(t, { own: twice });
  writeFileSync(join(checkout.workspace, "content.json"), CONTENT.replace("{", '{"api::story.story": [], '));
  const { status, stdout } = await checkout.run(CHECK);
  const overlap =
    "::error file=frontend-map.toml,line=13,title=overlap::site main: two rules match /en/x" +
    "%0Awins: api::page.page /{locale}/{slug}%0Aloses: api::story.story /{locale}/{slug}" +
    "%0Awhy: same shape: order of the settings\n";
  const never =
    "::error file=frontend-map.toml,line=13,title=never-matches::site main: a rule never matches" +
    "%0Arule: api::story.story /{locale}/{slug}%0Awhy: api::page.page /{locale}/{slug} matches its paths first\n";
  assert.deepEqual([status, stdout], [1, overlap + never]);
  assert.equal((await checkout.run(CHECK, { STRICT: "false" })).status, 0);
  const files = checkout.read("output").trim().split("\n").map((line) => line.replace("sarif=", ""));
  assert.equal(new Set(files).size, 2, "a job may check several files");
  for (const file of files) assert.equal(JSON.parse(readFileSync(file, "utf8")).runs[0].results.length, 2);
});

test("check annotates settings that cannot be used, in a file with an odd name", async (t) => {
  const name = "the map, 100%/settings: a#b.toml";
  const checkout = new Checkout(t, { name, own: SETTINGS.replace("{slug}", "{slug") });
  const { status, stdout, stderr } = await checkout.run(CHECK);
  const expected =
    "::error file=the map%2C 100%25/settings%3A a#b.toml,line=12,title=invalid-setting::line 12, site \"main\", rule 1 " +
    "(api::page.page): template `/{locale}/{slug`, position 11: a `{` is not closed\n";
  assert.deepEqual([status, stdout], [78, expected]);
  assert.match(stderr, /1 problem with the settings/);
});

test("diff writes a comment, and the next run replaces it", async (t) => {
  const comments = Array.from({ length: 150 }, (_, id) => ({ id, body: "a comment" }));
  const api = await startApi({ comments });
  t.after(() => api.server.close());
  const checkout = new Checkout(t);
  const first = await checkout.run(DIFF, { GITHUB_API_URL: api.url });
  assert.equal(first.status, 0, first.stderr);
  assert.equal(checkout.read("summary"), TEXT);
  comments[120].body = COMMENT;
  const second = await checkout.run(DIFF, { GITHUB_API_URL: api.url, MAX_MOVED: "0" });
  assert.equal(second.status, 1, "one path is more than none");
  const list = (page) => ({
    method: "GET",
    url: `/repos/owner/site/issues/7/comments?per_page=100&page=${page}`,
    token: "Bearer secret",
  });
  const write = (method, url) => ({ method, url, token: "Bearer secret", body: COMMENT });
  assert.deepEqual(api.requests, [
    list(1),
    list(2),
    write("POST", "/repos/owner/site/issues/7/comments"),
    list(1),
    list(2),
    write("PATCH", "/repos/owner/site/issues/comments/120"),
  ]);
});

test("diff writes no comment for settings without a difference, but corrects that of a run before", async (t) => {
  const same = "The settings file is that of `main`: its rules change no path.\n";
  const none = "`main` has no settings file of this name: there is nothing to compare with.\n";
  for (const [settings, text] of [[{ own: SETTINGS }, same], [{ base: null }, none]]) {
    const comments = [];
    const api = await startApi({ comments });
    t.after(() => api.server.close());
    const checkout = new Checkout(t, settings);
    assert.equal((await checkout.run(DIFF, { GITHUB_API_URL: api.url })).status, 0);
    comments.push({ id: 5, body: COMMENT });
    assert.equal((await checkout.run(DIFF, { GITHUB_API_URL: api.url })).status, 0);
    assert.deepEqual(api.requests.map(({ method, body }) => [method, body]), [
      ["GET", undefined],
      ["GET", undefined],
      ["PATCH", COMMENT.replace(TEXT, text)],
    ]);
  }
});

test("diff leaves a whole clone whole", async (t) => {
  const api = await startApi();
  t.after(() => api.server.close());
  const checkout = new Checkout(t);
  await checkout.run(DIFF, { GITHUB_API_URL: api.url });
  const git = (...args) => execFileSync("git", args, { cwd: checkout.workspace, encoding: "utf8" }).trim();
  assert.equal(git("rev-parse", "--is-shallow-repository"), "false");
  assert.equal(git("worktree", "list").split("\n").length, 1);
});

test("a step without the binary fails and says so", async (t) => {
  const checkout = new Checkout(t);
  rmSync(join(checkout.folder, "temp/frontend-map"), { recursive: true });
  const { status, stderr } = await checkout.run(CHECK);
  assert.equal(status, 1);
  assert.match(stderr, /^frontend-map could not be run: .*ENOENT/m);
});

test("diff without permission for the comment prints the paths and a warning, and ends as without it", async (t) => {
  const api = await startApi({ status: 403 });
  t.after(() => api.server.close());
  const { status, stdout } = await new Checkout(t).run(DIFF, { GITHUB_API_URL: api.url });
  assert.equal(status, 0);
  assert.match(stdout, /^::stop-commands::(.+)\n[^]*\/en\/x → \/en\/p\/x[^]*\n::\1::$/m);
  assert.match(stdout, /^::warning::the comment could not be written \(GET .+: 403\): does the job have/m);
});

test("diff with settings that cannot be used writes no comment and fails", async (t) => {
  const own = MOVED.replace("{slug}", "{slug");
  const checkout = new Checkout(t, { own });
  const { status, stderr } = await checkout.run(DIFF, { GITHUB_API_URL: "http://127.0.0.1:9" });
  assert.equal(status, 78);
  assert.match(stderr, /1 problem with the settings/);
  assert.equal(checkout.read("summary"), "");
});

test("a text with fences stays in its block", async (t) => {
  const api = await startApi();
  t.after(() => api.server.close());
  const checkout = new Checkout(t);
  writeFileSync(join(checkout.workspace, "content.json"), CONTENT.replace('"b"', '"````"'));
  await checkout.run(DIFF, { GITHUB_API_URL: api.url });
  const lines = api.requests.at(-1).body.trimEnd().split("\n");
  assert.deepEqual([lines[3], lines.at(-1)], ["`````text", "`````"]);
});
