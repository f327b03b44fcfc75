import { ServiceFailure } from './failure';

/** The problems of ten content types fit, of which the service lists 10,000 of each kind. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The body as text; rejects one that is longer. */
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
