/** Reads a body up to a limit: neither side's `text()` has one; and JSON that may be none. */

type Bytes = Uint8Array<ArrayBuffer>;

/** All bytes of a body; null if there are more than `maxBytes`. */
export async function bytesOf(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<Bytes | null> {
  const chunks: Uint8Array[] = [];
  if (body === null) return joined(chunks);
  const reader = body.getReader();
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return joined(chunks);
    bytes += value.length;
    if (bytes > maxBytes) {
      await reader.cancel();
      return null;
    }
    chunks.push(value);
  }
}

export function joined(chunks: Uint8Array[]): Bytes {
  const all = new Uint8Array(chunks.reduce((bytes, chunk) => bytes + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

/** The value of JSON; undefined if the text is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
