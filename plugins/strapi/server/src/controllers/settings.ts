import type { Core } from '@strapi/strapi';
import type { Context } from 'koa';
import type { OperationsService } from '../operations/service';
import type { SettingsService } from '../settings/service';
import { saveWebhook } from '../settings/webhook';
import { settingsInput } from './settings-input';

const settings = ({ strapi }: { strapi: Core.Strapi }) => {
  const service = (): SettingsService => strapi.plugin('frontend-map').service('settings');
  const operations = (): OperationsService => strapi.plugin('frontend-map').service('operations');

  return {
    /** `GET /parts`: which parts are on, for each admin with permission to see URLs. */
    async parts(ctx: Context) {
      ctx.set('Cache-Control', 'no-store');
      ctx.body = await operations().parts(ctx.state.userAbility);
    },

    /** `GET /settings`: a `SettingsView`. */
    async find(ctx: Context) {
      ctx.set('Cache-Control', 'no-store');
      ctx.body = await service().view();
    },

    /** `PUT /settings` with a `SettingsInput`: the new `SettingsView`. */
    async update(ctx: Context) {
      await service().update(settingsInput((ctx.request as { body?: unknown }).body));
      operations().reset();
      ctx.body = await service().view();
    },

    /** `POST /settings/test`: a `ConnectionTest` of the stored settings. */
    async test(ctx: Context) {
      ctx.body = await operations().test();
    },

    /** `POST /settings/webhook`: creates the webhook, or updates it. */
    async webhook(ctx: Context) {
      const { hookSecret } = service().config();
      const { address } = await service().effective();
      if (!hookSecret || !address) return ctx.throw(400);
      await saveWebhook(strapi, address, hookSecret);
      ctx.body = { isSaved: true };
    },
  };
};

export default settings;
