import type { Failure } from '../../../shared/failures';
import type { Breaker } from './breaker';
import { readText } from './body';
import { ServiceFailure } from './failure';
import { isRecord, record } from './records';

/** A response of the service with one of the statuses that callers distinguish. */
export interface ServiceResponse {
  status: 200 | 400 | 404 | 501;
  // The members are checked where they are read.
  data: Record<string, unknown>;
  details: Record<string, unknown>;
}

export interface Call {
  path: string;
  query?: Record<string, string | undefined>;
  body?: unknown;
  method?: 'DELETE';
  token?: string | undefined;
  timeoutMs: number;
}

const STATUSES: readonly number[] = [200, 400, 404, 501];

/** What a status without a usable body means. */
export const failureOf = (status: number): Failure => {
  if (status >= 300 && status < 400) return 'redirected';
  if (status === 401 || status === 403) return 'wrong-token';
  if (status === 405) return 'older-version';
  if (status === 503 || status === 429) return 'busy';
  return status === 502 || status === 504 ? 'cms-failed' : 'not-the-service';
};

/** The envelope of the service, of which `data` or `error` is an object. */
const parse = (status: number, text: string): ServiceResponse => {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new ServiceFailure('not-the-service');
  }
  const { data, error } = record(body);
  if (status === 200 ? !isRecord(data) : !isRecord(error)) throw new ServiceFailure('not-the-service');
  if (!STATUSES.includes(status)) throw new ServiceFailure(failureOf(status));
  return {
    status: status as ServiceResponse['status'],
    data: record(data),
    details: record(record(error).details),
  };
};

const targetOf = (address: string, { path, query = {} }: Call): string => {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const text = new URLSearchParams(given).toString();
  return address + path + (text && `?${text}`);
};

const send = async (address: string, call: Call): Promise<ServiceResponse> => {
  const signal = AbortSignal.timeout(call.timeoutMs);
  const headers: Record<string, string> = { Accept: 'application/json' };
  if (call.token) headers.Authorization = `Bearer ${call.token}`;
  const init: RequestInit = { method: call.method ?? 'GET', headers, signal, redirect: 'manual' };
  if (call.body !== undefined) Object.assign(init, { method: 'POST', body: JSON.stringify(call.body) });
  try {
    const response = await fetch(targetOf(address, call), init);
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    if (!isJson) {
      await response.body?.cancel();
      throw new ServiceFailure(response.status === 200 ? 'not-the-service' : failureOf(response.status));
    }
    return parse(response.status, await readText(response));
  } catch (error) {
    if (error instanceof ServiceFailure) throw error;
    throw new ServiceFailure(signal.aborted ? 'timeout' : 'unreachable');
  }
};

/** Failures that say that the service itself does not work. */
const OF_THE_SERVICE: readonly Failure[] = ['unreachable', 'timeout', 'redirected', 'not-the-service'];

/** Sends requests to the service; no text of its responses is in an error. */
export const createClient = (breaker: Breaker) => ({
  /** Rejects with a `ServiceFailure`. */
  async call(address: string | null, call: Call): Promise<ServiceResponse> {
    if (!address) throw new ServiceFailure('not-configured');
    if (!breaker.allows()) throw new ServiceFailure('unreachable');
    try {
      const response = await send(address, call);
      breaker.succeeded();
      return response;
    } catch (error) {
      const failed = error instanceof ServiceFailure && OF_THE_SERVICE.includes(error.failure);
      if (failed) breaker.failed();
      else breaker.succeeded();
      throw error;
    }
  },
});

export type Client = ReturnType<typeof createClient>;
