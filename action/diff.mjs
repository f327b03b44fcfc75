// Compares the settings with those of the base branch, and writes the paths that change into a comment.
import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { annotate, BINARY } from "./command.mjs";

const { GITHUB_API_URL, GITHUB_BASE_REF, GITHUB_EVENT_PATH, GITHUB_REPOSITORY } = process.env;
const { GITHUB_STEP_SUMMARY, MAX_MOVED, RUNNER_TEMP, SETTINGS, TOKEN } = process.env;

/** Begins the comment, so that the next run finds it. */
const MARKER = "<!-- frontend-map diff -->";
/** A comment has at most 65,536 characters. */
const LONGEST = 60_000;

const git = (...args) => execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

/** A code block, whatever the text has. */
function block(text) {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${text}${fence}\n`;
}

/** Whole lines of the text, as many as a comment can have. */
function shortened(text) {
  if (text.length <= LONGEST) return text;
  return `${text.slice(0, text.lastIndexOf("\n", LONGEST))}\n… the log of this step has all of them\n`;
}

async function request(method, path, body) {
  const headers = { accept: "application/vnd.github+json", authorization: `Bearer ${TOKEN}` };
  const init = { method, headers, body: body && JSON.stringify(body) };
  const response = await fetch(`${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}/${path}`, init);
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`);
  return response.json();
}

/** The comment of a run before this one. */
async function earlier(number) {
  for (let page = 1; ; page += 1) {
    const comments = await request("GET", `issues/${number}/comments?per_page=100&page=${page}`);
    const own = comments.find(({ body }) => body.startsWith(MARKER));
    if (own || comments.length < 100) return own;
  }
}

async function comment(body) {
  const { number } = JSON.parse(readFileSync(GITHUB_EVENT_PATH, "utf8")).pull_request;
  const before = await earlier(number);
  if (before) await request("PATCH", `issues/comments/${before.id}`, { body });
  else await request("POST", `issues/${number}/comments`, { body });
}

git("fetch", "--no-tags", "--depth=1", "origin", GITHUB_BASE_REF);
if (spawnSync("git", ["diff", "--quiet", "FETCH_HEAD", "--", SETTINGS]).status === 0) {
  console.log(`${SETTINGS} is that of ${GITHUB_BASE_REF}: no paths change`);
  process.exit();
}
// All files of the branch: the settings may name some.
const base = join(RUNNER_TEMP, "frontend-map-base");
git("worktree", "add", "--force", "--detach", base, "FETCH_HEAD");
try {
  if (!existsSync(join(base, SETTINGS))) {
    console.log(`${GITHUB_BASE_REF} has no ${SETTINGS}: there is nothing to compare with`);
  } else {
    const args = ["--config", SETTINGS, "diff", "--against", join(base, SETTINGS)];
    if (MAX_MOVED) args.push("--max-moved", MAX_MOVED);
    const stdio = ["ignore", "pipe", "inherit"];
    const { status, stdout } = spawnSync(BINARY, args, { encoding: "utf8", stdio, maxBuffer: 2 ** 28 });
    process.exitCode = status ?? 1;
    if (stdout) {
      console.log(stdout);
      const text = `### Paths that change with these settings\n\n${block(shortened(stdout))}`;
      appendFileSync(GITHUB_STEP_SUMMARY, text);
      await comment(`${MARKER}\n${text}`).catch((error) => {
        const remedy = "does the job have `permissions: pull-requests: write`?";
        annotate("warning", `the comment could not be written (${error.message}): ${remedy}`);
      });
    }
  }
} finally {
  git("worktree", "remove", "--force", base);
}
