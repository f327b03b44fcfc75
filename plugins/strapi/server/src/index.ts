import type { Core } from '@strapi/strapi';
import { registerTools } from './agents/register';
import config from './config';
import reports from './controllers/reports';
import settingsController from './controllers/settings';
import urls from './controllers/urls';
import operations from './operations/service';
import { REGISTERED } from './permissions';
import routes from './routes';
import settings from './settings/service';

// Strapi takes tools in this phase alone.
const register = ({ strapi }: { strapi: Core.Strapi }): void => registerTools(strapi);

const bootstrap = async ({ strapi }: { strapi: Core.Strapi }): Promise<void> => {
  await strapi.service('admin::permission').actionProvider.registerMany(REGISTERED);
};

export default {
  register,
  bootstrap,
  config,
  routes,
  controllers: { urls, reports, settings: settingsController },
  services: { settings, operations },
};
