import type { Core } from '@strapi/strapi';
import type { Context } from 'koa';
import type { OperationsService } from '../operations/service';
import { documentIdOf, documentIdsOf, localeOf, pathOf, uidOf } from './parameters';

const urls = ({ strapi }: { strapi: Core.Strapi }) => {
  const operations = (): OperationsService => strapi.plugin('frontend-map').service('operations');

  return {
    /** `GET /document?uid&documentId&locale`: a `Result<DocumentReport>`. */
    async document(ctx: Context) {
      const { uid, documentId, locale } = ctx.query;
      const request = { uid: uidOf(uid), documentId: documentIdOf(documentId), locale: localeOf(locale) };
      const found = await operations().document(ctx.state.userAbility, request);
      // Like Strapi's own routes: a document that the admin may not read is a 404.
      ctx.set('Cache-Control', 'no-store');
      if (!found) ctx.throw(404);
      ctx.body = found;
    },

    /** `GET /document-links?uid&documentId&locale&path`: a `Result<DocumentLinks>`. */
    async links(ctx: Context) {
      const { uid, documentId, locale, path } = ctx.query;
      const request = { uid: uidOf(uid), documentId: documentIdOf(documentId), locale: localeOf(locale) };
      const found = await operations().documentLinks(ctx.state.userAbility, request, pathOf(path));
      ctx.set('Cache-Control', 'no-store');
      if (!found) ctx.throw(404);
      ctx.body = found;
    },

    /** `POST /rows` with `{uid, documentIds, locale}`: a `Result` with the rows by `documentId`. */
    async rows(ctx: Context) {
      const { uid, documentIds, locale } = (ctx.request as { body?: Record<string, unknown> }).body ?? {};
      const ability = ctx.state.userAbility;
      ctx.body = await operations().rows(ability, uidOf(uid), localeOf(locale), documentIdsOf(documentIds));
    },
  };
};

export default urls;
