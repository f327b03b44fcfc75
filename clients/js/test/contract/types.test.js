/** What `frontend-map types` writes is a declaration of the client: it makes a frontend complete. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { promisify } from "node:util";
import { binary, folder, skip } from "../support/binary.js";
import { errorsOf } from "../support/compile.js";

const repository = (path) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));

/** What the command writes for these settings. */
async function types(settings, ...args) {
  const { stdout } = await promisify(execFile)(binary, ["--config", settings, "types", ...args]);
  return { "frontend-map.d.ts": stdout };
}

/** A frontend that uses the params of each of these content types, and no other one. */
const frontend = (site, uses) => ({
  "frontend.ts": `import { createFrontendMap } from "frontend-map-client";

const map = createFrontendMap({ url: "http://127.0.0.1:8080", site: ${JSON.stringify(site)} });

export async function title(path: string): Promise<string | undefined> {
  const page = await map.resolve(path);
  if (page.kind !== "document") return page.kind;
  const { matched, locale } = page;
  const same: typeof locale = matched.params.locale;
  const uid = matched.collectionType;
  switch (uid) {
${Object.entries(uses).map(([uid, use]) => `    case ${JSON.stringify(uid)}: return same + (${use});\n`).join("")}\
    default: return uid satisfies never; // all
  }
}
`,
});

/** Compiles with all content types, and not without one of them. */
async function isComplete(settings, site, uses) {
  const written = await types(settings);
  assert.deepEqual(errorsOf([], { ...written, ...frontend(site, uses) }), []);
  for (const uid of Object.keys(uses)) {
    const { [uid]: _, ...rest } = uses;
    const errors = errorsOf([], { ...written, ...frontend(site, rest) });
    assert.ok(errors.length > 0, uid);
    assert.ok(errors.every(({ text }) => text.endsWith("// all")), JSON.stringify(errors));
  }
}

test("types of the demo", { skip }, async () => {
  const slug = "matched.params.slug.trim()";
  await isComplete(repository("config/demo/settings.toml"), "main", {
    "plugin::cms.article": slug,
    "plugin::cms.page": slug,
  });
});

test("types of several sites, or of one of them", { skip }, async () => {
  const settings = repository("tests/fixtures/main/settings.toml");
  const slug = "matched.params.slug.trim()";
  await isComplete(settings, "main", { "plugin::cms.article": slug, "plugin::cms.page": slug });
  await isComplete(settings, "nourl", { "plugin::cms.event": slug });
  const other = frontend("nourl", { "plugin::cms.event": slug });
  const errors = errorsOf([], { ...(await types(settings, "--site", "main")), ...other });
  assert.ok(errors.some(({ text }) => text.includes('site: "nourl"')), JSON.stringify(errors));
});

const SETTINGS = `
[cms]
url = "http://127.0.0.1:1"
[[site]]
key = "a.b-c_1"
locales = ["en", "zh-Hant", "pt_BR"]
resolve = "documents"
[[site.rule]]
content_type = "plugin::a-b_9.C-d_8"
template = "/{locale}/{publishedAt:year}/{category.slug}/{_a-1}/{documentId}"
[[site.rule]]
content_type = "api::optional.optional"
template = "/{locale}/o/{section?}/{slug}"
[[site.rule]]
content_type = "api::by-locale.by-locale"
template = { en = "/by/{slug}", pt_BR = "/por/{part}/{slug}" }
[[site.rule]]
content_type = "api::own.own"
template = "/{locale}/own/{slug}"
path_field = "path"
[[site.rule]]
content_type = "api::tree.tree"
template = "/{locale}/tree/{*path}"
[[site.rule]]
content_type = "api::home.home"
template = "/"
`;

test("names of every form, and params that a path may not have", { skip }, async (t) => {
  const settings = join(await folder(t, { "settings.toml": SETTINGS }), "settings.toml");
  const maybe = (name) => `(matched.params.${name} satisfies string | undefined, matched.params.${name}?.trim())`;
  const uses = {
    "plugin::a-b_9.C-d_8":
      'matched.params["publishedAt:year"] + matched.params["category.slug"] + matched.params["_a-1"] + matched.params.documentId',
    "api::optional.optional": `${maybe("section")} + matched.params.slug.trim()`,
    "api::by-locale.by-locale": 'matched.params.slug + (matched.rule === "/por/{part}/{slug}" ? matched.params.part : "")',
    "api::own.own": maybe("slug"),
    "api::tree.tree": "matched.params.path.trim()",
    "api::home.home": "matched.params.locale",
  };
  await isComplete(settings, "a.b-c_1", uses);
  const written = await types(settings);
  for (const [uid, use] of [
    ["api::own.own", "matched.params.slug.trim()"],
    ["api::optional.optional", "matched.params.section.trim()"],
    ["api::home.home", "matched.params.slug"],
    ["api::by-locale.by-locale", "matched.params.part"],
    ["api::tree.tree", 'matched.params.locale === "fr"'],
  ]) {
    const errors = errorsOf([], { ...written, ...frontend("a.b-c_1", { ...uses, [uid]: use }) });
    assert.deepEqual(errors.map(({ text }) => text.includes(use)), [true], `${uid}: ${use}`);
  }
});
