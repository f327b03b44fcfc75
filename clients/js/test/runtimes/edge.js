/** The worker for a runtime that has events in place of modules. */
import { respond } from "./worker.js";

addEventListener("fetch", (event) => event.respondWith(respond(event.request)));
