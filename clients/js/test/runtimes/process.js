/** The checks in a runtime with a command line: `process.js <address of the service>`. */
import { failures } from "./checks.js";

const [address] = globalThis.Deno?.args ?? process.argv.slice(2);
console.log(JSON.stringify(await failures(address)));
