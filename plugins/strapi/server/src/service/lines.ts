import { ServiceFailure } from './failure';

/** The longest line, in characters: the result of a run, with up to 10,000 dead pages. */
const MAX_LINE = 16 * 1024 * 1024;

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
    if (rest.length > MAX_LINE) {
      await reader?.cancel();
      throw new ServiceFailure('not-the-service');
    }
    for (const line of lines) if (line) yield JSON.parse(line);
  }
  // The last line may end with the body.
  if (rest) yield JSON.parse(rest);
}
