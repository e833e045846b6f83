import type { Stage } from '../../src/kernel/stage/stage.js';
import { handlerClasses } from '../../src/kernel/stage/vocabulary.js';
import { table } from './generated.js';

/** The name of a family as a link to its section. */
export function stageLink(family: string): string {
  return `[\`${family}\`](#${anchor(family)})`;
}

/** The list of all stages: what is needed to choose one. */
export function stageList(stages: readonly Stage[]): string {
  return table(
    ['family', 'mode', 'classes', 'hot path', 'version', 'purpose'],
    stages.map((stage) => [
      stageLink(stage.family),
      stage.mode,
      stage.classes.join(', '),
      stage.hotPath ? 'yes' : '',
      String(stage.version),
      stage.purpose,
    ]),
  );
}

/** Everything that the row of one stage declares. */
export function stageSection(stage: Stage): string {
  return [`## \`${stage.family}\``, stage.purpose, columns(stage), fields(stage)]
    .filter((part) => part !== '')
    .join('\n\n');
}

function columns(stage: Stage): string {
  const policies = handlerClasses
    .filter((one) => stage.classes.includes(one))
    .map((one) => `${one} ${stage.onError[one]}`);
  const rows: [string, string][] = [
    ['classes', stage.classes.join(', ')],
    ['mode', stage.mode],
    ['on error', policies.join(', ')],
    ['budget', `${stage.timeoutMs} ms a handler, ${stage.stageTimeoutMs} ms in all`],
    ['hot path', stage.hotPath ? 'yes' : 'no'],
    ['payload', link(stage, 'payload')],
    ['shared fields', quoted(stage.shared)],
    ['selection', stage.selection === undefined ? '' : link(stage, 'selection')],
    ['settled payloads', stage.settled === undefined ? '' : 'resolvers are not called'],
    ['cancel codes', stage.classes.includes('veto') ? quoted(stage.cancelCodes) : ''],
    ['replies of cancels', stage.cancelReplies ? 'the sender of the message gets them' : ''],
    ['principal', stage.principal ? 'handlers see it' : ''],
    ['questions to humans', stage.asks ? 'a veto may ask' : ''],
    ['emitted by', `${stage.emittedBy}: ${stage.emittedWhen}`],
    ['version', String(stage.version)],
    ['deprecated', deprecation(stage)],
  ];
  return table(
    ['column', 'value'],
    rows.filter(([, value]) => value !== ''),
  );
}

/** The fields that handlers may write, each with its law. */
function fields(stage: Stage): string {
  const patch = Object.entries(stage.patch?.properties ?? {}).map(([name, schema]) => {
    const { law, separator } = stage.laws[name] ?? { law: 'replace', separator: '' };
    const text = law.endsWith('-text') ? `${law}, separated by ${JSON.stringify(separator)}` : law;
    const trusted = stage.trusted.includes(name) ? ', trusted' : '';
    return [link(stage, 'patch'), `\`${name}\``, text + trusted, said(schema)];
  });
  const annotations = Object.entries(stage.annotations?.properties ?? {}).map(([name, schema]) => [
    link(stage, 'annotations'),
    `\`${name}\``,
    annotationLaw(stage, name, schema),
    said(schema),
  ]);
  const rows = [...patch, ...annotations];
  return rows.length === 0 ? '' : table(['written as', 'field', 'law', 'meaning'], rows);
}

function annotationLaw(stage: Stage, name: string, schema: object): string {
  if ('type' in schema && schema.type === 'array') return 'append';
  return stage.replaceable.includes(name) ? 'the last stands' : 'the first stands';
}

function said(schema: object): string {
  return 'description' in schema ? String(schema.description) : '';
}

function deprecation({ deprecated }: Stage): string {
  if (deprecated === undefined) return '';
  const { since, use, removeAfter } = deprecated;
  const until = removeAfter === undefined ? '' : `, removed after ${removeAfter}`;
  return `since ${since}${until}; use \`${use}\``;
}

function link({ family }: Stage, part: string): string {
  return `[${part}](schemas/${family}.${part}.json)`;
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

function anchor(family: string): string {
  return family.replaceAll('.', '');
}
