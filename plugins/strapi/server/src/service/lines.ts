/** The lines of a body of `application/x-ndjson`, while they arrive. */
export async function* linesOf(response: Response): AsyncGenerator<unknown> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    const next = await reader?.read();
    if (!next || next.done) break;
    const lines = (rest + decoder.decode(next.value, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line) yield JSON.parse(line);
  }
  // The last line may end with the body.
  if (rest) yield JSON.parse(rest);
}
