import { ServiceFailure } from './failure';

/** 10,000 problems with long titles fit. */
const MAX_BYTES = 16 * 1024 * 1024;

/** The body as text; rejects one that is longer than 16 MiB. */
export const readText = async (response: Response): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Not an async iteration: the types of fetch do not have it.
  const reader = response.body?.getReader();
  for (;;) {
    const next = await reader?.read();
    if (!next || next.done) return Buffer.concat(chunks).toString('utf8');
    length += next.value.length;
    if (length > MAX_BYTES) {
      await reader?.cancel();
      throw new ServiceFailure('not-the-service');
    }
    chunks.push(next.value);
  }
};
