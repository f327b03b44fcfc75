import { getFetchClient } from '@strapi/strapi/admin';
import type { Result, RowReport } from '../../../shared/reports';
import { createBatches } from './batch';

/** The published URL of a row, or why it has none; one request for all rows of a page. */
export const requestRow = createBatches(async (uid, locale, documentIds) => {
  const body = { uid, documentIds, ...(locale && { locale }) };
  const { data } = await getFetchClient().post<Result<Record<string, RowReport>>>('/frontend-map/rows', body);
  return data;
});
