// Writes the description of the API as the service sends it, from docs/openapi.yaml.
import { readFileSync, writeFileSync } from "node:fs";
import { load } from "js-yaml";

const file = (path) => new URL(`../../${path}`, import.meta.url);
const description = load(readFileSync(file("docs/openapi.yaml"), "utf8"));
writeFileSync(file("crates/service/src/http/operations/openapi.json"), `${JSON.stringify(description)}\n`);
