// Compares the settings with those of the base branch, and writes the paths that change into a comment.
import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { annotate, frontendMap, print } from "./command.mjs";

const { GITHUB_API_URL, GITHUB_BASE_REF, GITHUB_EVENT_PATH, GITHUB_REPOSITORY } = process.env;
const { GITHUB_STEP_SUMMARY, MAX_MOVED, RUNNER_TEMP, SETTINGS, TOKEN } = process.env;

/** Begins the comment about these settings, so that the next run finds it. */
const MARKER = `<!-- frontend-map diff ${encodeURIComponent(SETTINGS)} -->`;
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

/** Writes the comment, or replaces that of a run before. Without paths, only the latter. */
async function comment(text, hasPaths) {
  const { number } = JSON.parse(readFileSync(GITHUB_EVENT_PATH, "utf8")).pull_request;
  const before = await earlier(number);
  const body = `${MARKER}\n${text}`;
  if (before) await request("PATCH", `issues/comments/${before.id}`, { body });
  else if (hasPaths) await request("POST", `issues/${number}/comments`, { body });
}

async function report(text, hasPaths) {
  appendFileSync(GITHUB_STEP_SUMMARY, text);
  await comment(text, hasPaths).catch((error) => {
    const remedy = "does the job have `permissions: pull-requests: write`?";
    annotate("warning", `the comment could not be written (${error.message}): ${remedy}`);
  });
}

const isShallow = git("rev-parse", "--is-shallow-repository").trim() === "true";
git("fetch", "--no-tags", ...(isShallow ? ["--depth=1"] : []), "origin", GITHUB_BASE_REF);
// All files of the branch: the settings may name some.
const base = join(mkdtempSync(join(RUNNER_TEMP, "frontend-map-")), "base");
git("worktree", "add", "--force", "--detach", base, "FETCH_HEAD");
try {
  if (!existsSync(join(base, SETTINGS))) {
    const text = `\`${GITHUB_BASE_REF}\` has no settings file of this name: there is nothing to compare with.\n`;
    console.log(text);
    await report(text, false);
  } else if (spawnSync("git", ["diff", "--quiet", "FETCH_HEAD", "--", SETTINGS]).status === 0) {
    const text = `The settings file is that of \`${GITHUB_BASE_REF}\`: its rules change no path.\n`;
    console.log(text);
    await report(text, false);
  } else {
    const args = ["--config", SETTINGS, "diff", "--against", join(base, SETTINGS)];
    if (MAX_MOVED) args.push("--max-moved", MAX_MOVED);
    const { status, stdout } = frontendMap(args);
    process.exitCode = status;
    if (stdout) {
      print(stdout);
      await report(`### Paths that change with these settings\n\n${block(shortened(stdout))}`, true);
    }
  }
} finally {
  git("worktree", "remove", "--force", base);
}
