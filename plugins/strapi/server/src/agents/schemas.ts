import * as utils from '@strapi/utils';
import { KINDS } from '../../../shared/problems';
import { MAX_ROWS } from '../../../shared/reports';
import { SITE_KEY } from '../config';
import { DOCUMENT_ID, LOCALE, UID } from '../controllers/parameters';
import { PAGE_KINDS } from '../operations/page';

// Undefined in versions of Strapi without an MCP server: schemas are made when tools are registered.
const { z } = utils;

// Output schemas have what an agent decides by. The reports of the plugin have more members.

const MAX_URL = 2_048;
const MAX_SEARCH = 1_000;

const uid = () => z.string().regex(UID).describe('The UID of the content type, such as api::article.article');

const site = () =>
  z.string().regex(SITE_KEY).optional().describe('The key of a site; by default the one of the settings');

export const documentInput = () =>
  z.object({
    uid: uid(),
    documentId: z.string().regex(DOCUMENT_ID).describe('The documentId, not the numeric id'),
    locale: z
      .string()
      .regex(LOCALE)
      .optional()
      .describe("The code of the locale; by default Strapi's default locale"),
  });

const owner = () => z.looseObject({ contentType: z.string(), documentId: z.string(), locale: z.string() });

const address = () =>
  z.looseObject({
    url: z.string().optional(),
    path: z.string().optional(),
    owner: owner()
      .nullish()
      .describe('Another document, which owns the path and is what the URL opens; null if unreadable'),
    reason: z.string().optional().describe('In place of the URL, why there is none'),
    rule: z.string().nullish(),
  });

export const documentOutput = () =>
  z.looseObject({
    published: address().nullable().describe('Null: this version is not published'),
    draft: address().nullable().describe('After the next publication; null where nothing changes'),
    languages: z.array(z.looseObject({ locale: z.string(), address: address() })),
    formerPaths: z.array(z.string()).describe('Paths that redirect to the document'),
    check: z
      .looseObject({ at: z.string(), isCurrent: z.boolean(), ok: z.boolean() })
      .nullable()
      .describe('What the last URL check found'),
  });

export const pageInput = () =>
  z.object({
    url: z
      .string()
      .max(MAX_URL)
      .describe('A URL such as https://www.example.com/en/about, or its path below the base URL: /en/about'),
    site: site(),
  });

export const pageOutput = () =>
  z.looseObject({
    site: z.string(),
    kind: z.enum(PAGE_KINDS),
    url: z.string().nullable().describe('The canonical URL, or the one that a redirect leads to'),
    document: owner().nullable().describe('Null also where this token may not read it'),
    page: z.string().nullable().describe('The name of a page that is not in Strapi'),
    redirect: z.looseObject({ status: z.number(), since: z.string().nullable() }).nullable(),
    goneSince: z.string().nullable().describe('When a document that is not published now had the URL last'),
  });

export const problemsInput = () =>
  z.object({
    uid: uid(),
    kind: z
      .enum(KINDS)
      .optional()
      .describe(
        'no_url: a document without a URL; shared_path: another one owns its path; dead: a dead page',
      ),
    locale: z.string().regex(LOCALE).optional(),
    search: z.string().max(MAX_SEARCH).optional().describe('A part of a title, a URL or a documentId'),
    site: site(),
    page: z.int().min(1).default(1),
    pageSize: z.int().min(1).max(MAX_ROWS).default(20),
  });

export const problemsOutput = () =>
  z.looseObject({
    site: z.string(),
    problems: z.array(z.looseObject({ kind: z.string(), documentId: z.string(), locale: z.string() })),
    count: z.number().describe('Problems on all pages'),
    pageCount: z.number(),
    isCut: z.boolean().describe('frontend-map has more problems than it lists'),
  });

const effect = () => z.looseObject({ ok: z.boolean().describe('Whether nothing speaks against it') });

export const previewOutput = () =>
  z.looseObject({
    sites: z.array(
      z.looseObject({ site: z.string(), publish: effect(), unpublish: effect(), delete: effect() }),
    ),
  });
