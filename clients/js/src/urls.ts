/** `/api/frontend-url(s)`: the URLs of documents, those of one tick in one request. */
import { FrontendMapError, invalidResponse } from "./error.js";
import { unlessAborted } from "./http/abort.js";
import type { Reads } from "./http/reads.js";
import { dataOf, type Transport } from "./http/transport.js";
import { isWorkers } from "./http/workers.js";
import type { DocumentRef, DocumentUrl, LastGood } from "./types.js";

/** The most documents, and bytes, of a batch that the service takes. */
const MAX_DOCUMENTS = 1_000;
const MAX_BYTES = 256 * 1_024;
/** `{"documents":[]}`. */
const FRAME_BYTES = 16;
/** Batches in flight, of one tick. */
const MAX_IN_FLIGHT = 4;

/** A document of the next batch, as JSON. */
interface Waiting {
  document: string;
  documentId: string;
  urgent: boolean;
  signal: AbortSignal;
  resolve: (text: string) => void;
  reject: (error: unknown) => void;
}

export class Urls {
  #waiting: Waiting[] = [];
  /** Whether the service has told any URL. */
  known = false;

  readonly #transport: Transport;
  readonly #reads: Reads;

  constructor(transport: Transport, reads: Reads) {
    this.#transport = transport;
    this.#reads = reads;
  }

  /** @throws FrontendMapError while the service fails, unless there is a last good result. */
  published(ref: DocumentRef<string>, signal?: AbortSignal): Promise<DocumentUrl & { lastGood?: LastGood }> {
    const { uid, documentId, locale } = ref;
    const document = JSON.stringify({ uid, documentId, locale: locale ?? undefined });
    return this.#reads.read({
      key: document,
      kind: "urls",
      request: (urgent, all) => this.#enqueue({ document, documentId, urgent, signal: all }),
      signal,
      decode: (text) => JSON.parse(text) as DocumentUrl,
      keeps: () => true,
      leadsTo: () => null,
    });
  }

  /** The URL that a draft would have. @throws FrontendMapError while the service fails. */
  async draft({ uid, documentId, locale }: DocumentRef<string>, signal?: AbortSignal): Promise<DocumentUrl> {
    const query = { uid, documentId, locale, status: "draft" };
    const text = this.#transport.text({ path: "/api/frontend-url", query, authorized: true, signal });
    return located({ uid, documentId, locale: locale ?? null, ...(await text.then(dataOf, withoutUrl)) });
  }

  #enqueue(document: Omit<Waiting, "resolve" | "reject">): Promise<string> {
    // A timer fires after all that this tick does, promises included.
    const afterwards = isWorkers ? queueMicrotask : setTimeout;
    if (this.#waiting.length === 0) afterwards(() => void this.#flush());
    const text = new Promise<string>((resolve, reject) => this.#waiting.push({ ...document, resolve, reject }));
    return unlessAborted(text, document.signal);
  }

  async #flush(): Promise<void> {
    // The workers share the iterator, so that each batch is sent once.
    const batches = batchesOf(this.#waiting.filter(({ signal }) => !signal.aborted)).values();
    this.#waiting = [];
    let failed: unknown;
    const worker = async () => {
      for (const batch of batches) {
        // A service that fails is not asked again for the rest.
        failed ??= await this.#send(batch);
        if (failed !== undefined) for (const { reject } of batch) reject(failed);
      }
    };
    await Promise.all(Array.from({ length: MAX_IN_FLIGHT }, worker));
  }

  /** Resolves the documents of a batch; returns the error if it cannot. */
  async #send(batch: Waiting[]): Promise<unknown> {
    const body = `{"documents":[${batch.map(({ document }) => document).join()}]}`;
    const retry = !batch.every(({ urgent }) => urgent);
    const controller = new AbortController();
    let callers = batch.length;
    const leave = () => {
      callers -= 1;
      if (callers === 0) controller.abort();
    };
    for (const { signal } of batch) signal.addEventListener("abort", leave);
    try {
      const call = { path: "/api/frontend-urls", query: {}, body, retry, signal: controller.signal };
      const results = resultsOf(await this.#transport.text(call), batch);
      this.known = true;
      results.forEach((result, at) => batch[at]?.resolve(JSON.stringify(located(result))));
      return undefined;
    } catch (error) {
      return error;
    }
  }
}

/** Splits by the service's limits. A document that is too long for any batch gets its own. */
function batchesOf(waiting: Waiting[]): Waiting[][] {
  const encoder = new TextEncoder();
  const batches: Waiting[][] = [];
  let batch: Waiting[] = [];
  let left = 0;
  for (const one of waiting) {
    const bytes = encoder.encode(one.document).length + 1;
    if (batch.length === MAX_DOCUMENTS || bytes > left) {
      batch = [];
      batches.push(batch);
      left = MAX_BYTES - FRAME_BYTES;
    }
    batch.push(one);
    left -= bytes;
  }
  return batches;
}

/** One result for each document. @throws FrontendMapError if they do not fit. */
function resultsOf(text: string, batch: Waiting[]): Partial<DocumentUrl>[] {
  const { results } = dataOf(text) as { results?: Partial<DocumentUrl>[] };
  const fits =
    Array.isArray(results) &&
    results.length === batch.length &&
    // The service cuts what is malformed.
    results.every((of, at) => of?.reason === "invalid" || of?.documentId === batch[at]?.documentId);
  if (!fits) throw invalidResponse("the results are not those of the documents");
  return results;
}

/** Null, in place of a member that is missing. */
function located(result: Partial<DocumentUrl>): DocumentUrl {
  const { uid = null, documentId = null, locale = null, url = null, path = null, ...why } = result;
  if (url === null && why.reason === undefined) throw invalidResponse("a result has neither URL nor reason");
  return { uid, documentId, locale, url, path, ...why };
}

/** Why the service knows that there is no URL: a 404 with a reason, or a 501 with the path. @throws the error otherwise. */
function withoutUrl(error: unknown): Partial<DocumentUrl> {
  if (!(error instanceof FrontendMapError)) throw error;
  const { status, reason, details } = error;
  const { path, rule } = details as { path?: string; rule?: string };
  if (status === 501 && path) return { path, reason: "no_base_url" };
  if (status !== 404 || !reason) throw error;
  return { reason, ...(rule && { rule }) };
}
