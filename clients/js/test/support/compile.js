/** The TypeScript compiler, as a frontend runs it. */
import { fileURLToPath } from "node:url";
import ts from "typescript";

const OPTIONS = {
  strict: true,
  noEmit: true,
  target: ts.ScriptTarget.ES2022,
  lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
  types: [],
  module: ts.ModuleKind.NodeNext,
  exactOptionalPropertyTypes: true,
  // All others are checked, the declarations of the client too.
  skipDefaultLibCheck: true,
};

/** What is on the disk is parsed once. */
const parsed = new Map();

const file = (name) => fileURLToPath(new URL(`../types/${name}`, import.meta.url));

/**
 * The lines of a frontend that do not compile.
 *
 * @param names files of `test/types`
 * @param texts files that are not on the disk, by name
 */
export function errorsOf(names, texts = {}) {
  const all = new Map(Object.entries(texts).map(([name, text]) => [file(name), text]));
  const host = ts.createCompilerHost(OPTIONS);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (path) => all.has(path) || fileExists(path);
  host.readFile = (path) => all.get(path) ?? readFile(path);
  host.getSourceFile = (path, ...more) => {
    if (all.has(path)) return getSourceFile(path, ...more);
    if (!parsed.has(path)) parsed.set(path, getSourceFile(path, ...more));
    return parsed.get(path);
  };
  const program = ts.createProgram([...names.map(file), ...all.keys()], OPTIONS, host);
  return ts.getPreEmitDiagnostics(program).map(({ file: source, start, messageText }) => {
    const line = source?.getLineAndCharacterOfPosition(start).line;
    return { line, text: source?.text.split("\n")[line], message: ts.flattenDiagnosticMessageText(messageText, " ") };
  });
}
