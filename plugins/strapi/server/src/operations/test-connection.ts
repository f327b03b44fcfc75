import type { ConnectionTest } from '../../../shared/connection';
import type { Failure } from '../../../shared/failures';
import { ServiceFailure } from '../service/failure';
import type { Get } from './document';
import { sitesOf } from './sites';

const failureOf = async (check: () => Promise<Failure | null>): Promise<Failure | null> => {
  try {
    return await check();
  } catch (error) {
    if (error instanceof ServiceFailure) return error.failure;
    throw error;
  }
};

/** A document that does not exist, of a type that no rule has: a service that accepts the token says so. */
const NO_DOCUMENT = { uid: 'api::none.none', documentId: 'none' };

/**
 * What is wrong with the settings, part by part, in fixed words. The service's own texts are not
 * passed on: an address on the settings page may lead to any server.
 */
export const testConnection = async (get: Get, site: string | undefined): Promise<ConnectionTest> => {
  const published = await failureOf(async () => {
    const { status, details } = await get('/api/frontend-url', NO_DOCUMENT);
    return status === 404 && details.reason === 'no_rule' ? null : 'older-version';
  });
  if (published) return { address: published };
  const [draft, report] = await Promise.all([
    failureOf(async () => {
      await get('/api/frontend-url', { ...NO_DOCUMENT, status: 'draft' }, 'draft');
      return null;
    }),
    failureOf(async () => {
      const sites = sitesOf(await get('/api/sites', {}, 'validate'));
      return site && !sites.some(({ key }) => key === site) ? 'unknown-site' : null;
    }),
  ]);
  const isSite = report === 'unknown-site';
  return { address: null, drafts: draft, reports: isSite ? null : report, site: isSite ? report : null };
};
