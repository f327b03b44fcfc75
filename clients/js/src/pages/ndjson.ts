/** Reads a list of the service that is sent as lines, and proves that it is complete. */
import { invalidResponse } from "../error.js";
import { parsed } from "../http/body.js";
import { Deadline } from "../http/deadline.js";
import { type Call, connected, type Transport } from "../http/transport.js";

/** The longest line that is accepted, in characters. */
const MAX_LINE = 2 ** 20;

/**
 * The rows of a list, while they arrive.
 *
 * @param timeoutMs bounds the time spent waiting for the service, not that of the reader.
 * @throws FrontendMapError also after rows: if the last line, `{"count":n}`, is missing or wrong.
 */
export async function* rows<Row>(transport: Transport, call: Call, timeoutMs: number): AsyncGenerator<Row, void> {
  const deadline = new Deadline(timeoutMs, call.signal);
  try {
    const response = await deadline.wait(() =>
      transport.open({ ...call, accept: "application/x-ndjson" }, deadline),
    );
    let rowsRead = 0;
    let count: unknown;
    for await (const line of lines(response, deadline)) {
      const row = parsed(line) as { path?: unknown; count?: unknown } | null | undefined;
      // HTML, half a line, or one after the last.
      if (typeof row !== "object" || row === null || count !== undefined) throw invalidResponse("a line is no row of a list");
      if (typeof row.path === "string") {
        rowsRead += 1;
        yield row as Row;
      } else {
        count = row.count;
      }
    }
    if (count !== rowsRead) throw invalidResponse(`the list is not complete: ${rowsRead} rows of ${count}`);
  } finally {
    // Also where the reader stops early.
    deadline.abort();
  }
}

async function* lines(response: Response, deadline: Deadline): AsyncGenerator<string, void> {
  const reader = (response.body ?? new Blob().stream()).pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const part = await deadline.wait(() => connected(reader.read()));
    if (part.done) break;
    const whole = (rest + part.value).split("\n");
    rest = whole.pop() ?? "";
    if (rest.length > MAX_LINE) throw invalidResponse("a line is too long");
    yield* whole;
  }
  if (rest !== "") yield rest;
}
