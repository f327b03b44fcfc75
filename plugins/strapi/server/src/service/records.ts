import { ServiceFailure } from './failure';

export type Row = Record<string, unknown>;

export const isRecord = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const record = (value: unknown): Row => (isRecord(value) ? value : {});

/** A list of objects, of which the members are not checked; a failure for anything else. */
export const rows = (value: unknown): Row[] => {
  if (Array.isArray(value) && value.every(isRecord)) return value;
  throw new ServiceFailure('not-the-service');
};
