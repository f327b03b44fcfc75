import type { Core, Modules } from '@strapi/strapi';
import type { z } from '@strapi/utils';
import type { Result } from '../../../shared/reports';
import { isWithoutRule } from '../../../shared/reports';
import { mayReadType, type Ability } from '../content/readable';
import { pageAddressOf } from '../operations/page';
import type { OperationsService } from '../operations/service';
import { ACTIONS, type Action } from '../permissions';
import {
  documentInput,
  documentOutput,
  pageInput,
  pageOutput,
  previewOutput,
  problemsInput,
  problemsOutput,
} from './schemas';
import {
  documentText,
  FAILURE_SENTENCES,
  noPreview,
  noRule,
  pageText,
  previewText,
  problemsText,
} from './sentences';

type Schema = z.ZodObject<z.ZodRawShape>;

/** The main facts in a sentence, and the same as data. */
interface Answer {
  text: string;
  data: object;
}

/** The sentence that an agent gets in place of an answer. */
class Refusal extends Error {}

const refuse = (sentence: string): never => {
  throw new Refusal(sentence);
};

const reportOf = <T>(result: Result<T>): T =>
  'report' in result ? result.report : refuse(FAILURE_SENTENCES[result.failure]);

const operationsOf = (strapi: Core.Strapi): OperationsService =>
  strapi.plugin('frontend-map').service('operations');

interface DocumentArguments {
  uid: string;
  documentId: string;
  locale?: string | undefined;
}

/** Like the panel: there is no difference between what does not exist and what may not be read. */
const known = <T>(found: T | null, { uid, documentId, locale }: DocumentArguments): T => {
  const where = locale ? ` in the locale ${locale}` : '';
  return found ?? refuse(`There is no document ${documentId} of ${uid}${where} that this token may read.`);
};

const needType = (strapi: Core.Strapi, ability: Ability, uid: string): void => {
  if (!mayReadType(strapi, ability, uid)) refuse(`There is no content type ${uid} that this token may read.`);
};

/** The sites of the settings, or the named one of them; at least one. */
const sitesOf = async (operations: OperationsService, site: string | undefined): Promise<string[]> => {
  const sites = reportOf(await operations.ownSites());
  if (!sites.length) refuse(FAILURE_SENTENCES['unknown-site']);
  if (site === undefined) return sites;
  if (sites.includes(site)) return [site];
  return refuse(`The settings of Frontend Map do not have the site ${site}, but ${sites.join(', ')}.`);
};

const documentUrl = async (
  strapi: Core.Strapi,
  ability: Ability,
  args: DocumentArguments,
): Promise<Answer> => {
  needType(strapi, ability, args.uid);
  const report = reportOf(known(await operationsOf(strapi).document(ability, args), args));
  if (isWithoutRule(report.published)) refuse(noRule(args.uid));
  return { text: documentText(report), data: report };
};

const pageAt = async (
  strapi: Core.Strapi,
  ability: Ability,
  { url, site }: { url: string; site?: string | undefined },
): Promise<Answer> => {
  const address =
    pageAddressOf(url) ?? refuse('`url` is neither a valid http(s) URL nor a valid path that begins with /.');
  const operations = operationsOf(strapi);
  const sites = await sitesOf(operations, site);
  const page =
    reportOf(await operations.page(ability, sites, address)) ??
    refuse(
      `frontend-map does not resolve documents for ${sites.join(', ')}: its settings need resolve = "documents".`,
    );
  return { text: pageText(page), data: page };
};

const problems = async (
  strapi: Core.Strapi,
  ability: Ability,
  args: z.infer<ReturnType<typeof problemsInput>>,
): Promise<Answer> => {
  const { uid, site: named, ...choice } = args;
  needType(strapi, ability, uid);
  const operations = operationsOf(strapi);
  const own = named === undefined ? await operations.siteOf(uid) : undefined;
  const site = own ?? (await sitesOf(operations, named))[0] ?? '';
  if (!reportOf(await operations.hasRule(site, uid))) refuse(noRule(uid));
  const found = reportOf(
    await operations.findings(ability, site, { ...choice, contentType: uid, isFlat: true }),
  );
  const { rows = [], count = 0, pageCount = 0 } = found.findings ?? {};
  const data = { site, problems: rows, count, pageCount, isCut: found.isCut };
  return { text: problemsText(uid, { site, page: choice.page }, found), data };
};

const publishPreview = async (
  strapi: Core.Strapi,
  ability: Ability,
  args: DocumentArguments,
): Promise<Answer> => {
  needType(strapi, ability, args.uid);
  const preview = reportOf(known(await operationsOf(strapi).preview(ability, args), args));
  if ('sites' in preview) return { text: previewText(preview.sites), data: preview };
  return refuse(preview.reason === 'no_rule' ? noRule(args.uid) : noPreview(preview.reason));
};

/** A tool as Strapi registers it; its permission is checked for each request. */
const tool = <Input extends Schema>(
  given: { name: string; title: string; description: string; action: Action; input: Input; output: Schema },
  answer: (strapi: Core.Strapi, ability: Ability, args: z.infer<Input>) => Promise<Answer>,
): Modules.MCP.McpToolDefinitionFields<string, Schema> & Modules.MCP.McpAuthAccess => {
  const { name, title, description, action, input, output } = given;
  return {
    ...{ name, title, description, telemetry: { source: 'frontend-map' } },
    auth: { policies: [{ action }] },
    resolveInputSchema: () => input,
    resolveOutputSchema: () => output,
    createHandler:
      (strapi, { userAbility }) =>
      async ({ args }) => {
        try {
          const { text, data } = await answer(strapi, userAbility, args as z.infer<Input>);
          // The data as text, too, for clients that show text alone.
          const content = [text, JSON.stringify(data)].map((one) => ({ type: 'text' as const, text: one }));
          return { content, structuredContent: { ...data } };
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          return { content: [{ type: 'text', text: error.message }], isError: true };
        }
      },
  };
};

/** The tools that read; there is none that changes anything. */
export const createTools = () => [
  tool(
    {
      name: 'frontend_map_document_url',
      title: 'Public URL of a document',
      description:
        'Returns the public URL of a document in a locale, or why it has none; its URL after publication, in other languages, its former paths, and the result of the last URL check.',
      action: ACTIONS.readUrl,
      input: documentInput(),
      output: documentOutput(),
    },
    documentUrl,
  ),
  tool(
    {
      name: 'frontend_map_page_at_url',
      title: 'Page at a URL',
      description:
        'Returns the published document that visitors find at a URL of the frontend, where the URL redirects to, or that there is no page.',
      action: ACTIONS.readUrl,
      input: pageInput(),
      output: pageOutput(),
    },
    pageAt,
  ),
  tool(
    {
      name: 'frontend_map_problems',
      title: 'Problems of a content type',
      description:
        'Lists the documents of a content type without a URL, those whose path another document owns, and the dead pages that the last URL check found.',
      action: ACTIONS.readReport,
      input: problemsInput(),
      output: problemsOutput(),
    },
    problems,
  ),
  tool(
    {
      name: 'frontend_map_publish_preview',
      title: 'What publishing would do',
      description:
        'Returns what publishing, unpublishing or deleting a version of a document would do to public URLs, without doing it: a path that belongs to another page, paths that move, pages that move along, and pages that are gone. {"hidden":true} is a document that this token may not read.',
      action: ACTIONS.readUrl,
      input: documentInput(),
      output: previewOutput(),
    },
    publishPreview,
  ),
];
