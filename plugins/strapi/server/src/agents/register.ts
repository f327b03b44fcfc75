import type { Core } from '@strapi/strapi';
import { createTools } from './tools';

/** Registers the tools at Strapi's MCP server, which Strapi has from 5.47 on and starts if it is enabled. */
export const registerTools = (strapi: Core.Strapi): void => {
  const { mcp } = (strapi.ai as Partial<Core.Strapi['ai']> | undefined) ?? {};
  if (!mcp?.isEnabled()) return;
  for (const tool of createTools()) mcp.registerTool(tool);
};
