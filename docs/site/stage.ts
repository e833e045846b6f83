/**
 * Makes the pages of the site: copies of the pages of the repository, and one page per entry point, made of the emitted
 * declarations and their docstrings. Needs `dist`, which `npm run build` in the root makes.
 */
import { Application, Comment, type DeclarationReflection, ReflectionKind } from 'typedoc';
import type { PluginOptions } from 'typedoc-plugin-markdown';
import { apiPageOf, entryPoints } from './nav.js';
import { root, staged, stagePages } from './pages.js';

const markdown: Partial<PluginOptions> = {
  entryFileName: 'index',
  hideBreadcrumbs: true,
  hidePageHeader: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  classPropertiesFormat: 'table',
  typeAliasPropertiesFormat: 'table',
  propertyMembersFormat: 'table',
  typeDeclarationFormat: 'table',
  useCustomAnchors: true,
  useHTMLEncodedBrackets: true,
  pageTitleTemplates: { module: ({ rawName }) => entryPointOf(rawName) },
  sanitizeComments: true,
  tableColumnSettings: {
    hideDefaults: true,
    hideOverrides: true,
    hideInherited: true,
    hideSources: true,
  },
};

function entryPointOf(page: string): string {
  return page === 'sluice' ? page : `sluice/${page}`;
}

/** Interfaces with a member per row of a table that has a page of its own. */
const pagesOfRows = new Map([['ErrorRows', '../spec/errors.md']]);

function leaveOutRows(held: DeclarationReflection): void {
  for (const row of [...(held.children ?? [])]) held.project.removeReflection(row);
  held.comment?.summary.push({
    kind: 'text',
    text: ` [All rows](${pagesOfRows.get(held.name)}) have a page of their own.`,
  });
}

const app = await Application.bootstrapWithPlugins({
  name: 'API',
  tsconfig: `${root}docs/site/tsconfig.api.json`,
  entryPoints: Object.keys(entryPoints).map(
    (name) => `${root}dist/${name.slice('sluice/'.length) || 'index'}.d.ts`,
  ),
  plugin: ['typedoc-plugin-markdown'],
  router: 'module',
  skipErrorChecking: true,
  disableSources: true,
  readme: 'none',
  githubPages: false,
  groupOrder: ['Functions', 'Classes', 'Variables', 'Interfaces', 'Type Aliases'],
  treatWarningsAsErrors: true,
  logLevel: 'Warn',
  ...markdown,
});
const project = await app.convert();
if (project === undefined) process.exit(1);
for (const entry of project.children ?? []) {
  if (entry.name === 'index') entry.name = apiPageOf('sluice');
  const sentence = new Map(Object.entries(entryPoints)).get(entryPointOf(entry.name)) ?? '';
  entry.comment = new Comment([{ kind: 'text', text: sentence }]);
}
for (const held of project.getReflectionsByKind(ReflectionKind.Interface))
  if (pagesOfRows.has(held.name)) leaveOutRows(held as DeclarationReflection);
stagePages();
app.options.setValue('out', `${staged}api`);
await app.generateOutputs(project);
if (app.logger.hasErrors() || app.logger.hasWarnings()) process.exit(1);
