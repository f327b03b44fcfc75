import type { Core } from '@strapi/strapi';
import config from './config';
import reports from './controllers/reports';
import settingsController from './controllers/settings';
import urls from './controllers/urls';
import operations from './operations/service';
import { REGISTERED } from './permissions';
import routes from './routes';
import settings from './settings/service';

const bootstrap = async ({ strapi }: { strapi: Core.Strapi }): Promise<void> => {
  await strapi.service('admin::permission').actionProvider.registerMany(REGISTERED);
};

export default {
  bootstrap,
  config,
  routes,
  controllers: { urls, reports, settings: settingsController },
  services: { settings, operations },
};
