import type { Core } from '@strapi/strapi';
import type { Context } from 'koa';
import { mayReadWholeType } from '../content/readable';
import type { OperationsService } from '../operations/service';
import { choiceOf, linkKindOf, missOf, siteOf, uidOf } from './parameters';

const reports = ({ strapi }: { strapi: Core.Strapi }) => {
  const operations = (): OperationsService => strapi.plugin('frontend-map').service('operations');

  /** A run reports on all documents of the type, so the admin must be permitted to read each. */
  const readableType = async (ctx: Context, uid: string): Promise<string> => {
    if (!(await mayReadWholeType(strapi, ctx.state.userAbility, uid))) ctx.throw(403);
    return uid;
  };

  /** A site of the settings. The service may have others, whose documents are those of another CMS. */
  const ownSite = async (ctx: Context): Promise<string> => {
    const site = siteOf(ctx.query.site);
    if (!(await operations().sites()).includes(site)) ctx.throw(404);
    return site;
  };

  return {
    /** `GET /sites`: a `Site[]`, those of the settings. */
    async sites(ctx: Context) {
      ctx.set('Cache-Control', 'no-store');
      ctx.body = await operations().sitesFor(ctx.state.userAbility);
    },

    /** `GET /overview?site`: a `Result<Overview>`; without `site`, of the first one. Null without sites. */
    async overview(ctx: Context) {
      const site = ctx.query.site === undefined ? (await operations().sites())[0] : await ownSite(ctx);
      ctx.set('Cache-Control', 'no-store');
      ctx.body = site ? await operations().overview(ctx.state.userAbility, site) : { report: null };
    },

    /** `GET /findings?site&…`: a `Result<Findings>`. */
    async findings(ctx: Context) {
      const site = await ownSite(ctx);
      ctx.set('Cache-Control', 'no-store');
      ctx.body = await operations().findings(ctx.state.userAbility, site, choiceOf(ctx.query));
    },

    /** `GET /checks?site`: a `Result<Checks>`. */
    async checks(ctx: Context) {
      const site = await ownSite(ctx);
      ctx.set('Cache-Control', 'no-store');
      ctx.body = await operations().checks(ctx.state.userAbility, site);
    },

    /** `GET /moves?site&…`: a `Result<Moves>`. */
    async moves(ctx: Context) {
      const site = await ownSite(ctx);
      ctx.set('Cache-Control', 'no-store');
      ctx.body = await operations().moves(ctx.state.userAbility, site, choiceOf(ctx.query));
    },

    /** `GET /misses?site&…`: a `Result<Misses>`. */
    async misses(ctx: Context) {
      const site = await ownSite(ctx);
      ctx.set('Cache-Control', 'no-store');
      ctx.body = await operations().misses(ctx.state.userAbility, site, choiceOf(ctx.query));
    },

    /** `GET /links?site&kind&…`: a `Result<Links>`. */
    async links(ctx: Context) {
      const site = await ownSite(ctx);
      const { kind, ...query } = ctx.query;
      ctx.set('Cache-Control', 'no-store');
      ctx.body = await operations().links(ctx.state.userAbility, site, linkKindOf(kind), choiceOf(query));
    },

    /** `DELETE /misses?site&path&host`: a `Result<Cleared>`; without `path`, of all rows. */
    async clearMisses(ctx: Context) {
      const site = await ownSite(ctx);
      ctx.body = await operations().clearMisses(site, missOf(ctx.query));
    },

    /** `GET /check?site&uid`: a `CheckRun`. */
    async check(ctx: Context) {
      const uid = await readableType(ctx, uidOf(ctx.query.uid));
      ctx.set('Cache-Control', 'no-store');
      ctx.body = operations().checkState(await ownSite(ctx), uid);
    },

    /** `POST /check?site&uid`: starts a run, or joins the one in progress. */
    async start(ctx: Context) {
      const uid = await readableType(ctx, uidOf(ctx.query.uid));
      ctx.body = await operations().startCheck(await ownSite(ctx), uid);
    },
  };
};

export default reports;
