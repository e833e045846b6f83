// Module hooks: the chunk that is named by the environment exports, when it is loaded, what the suite needs of it.
import { readFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

const names = [
  'subscribeEmbeddedPiSession',
  'onAgentEvent',
  'initializeGlobalHookRunner',
  'extendExecMeta',
  'inferToolMetaFromArgs',
  'formatToolAggregate',
  'normalizeToolName$1',
  'filterToolResultMediaUrls',
  'buildToolMutationState',
  'formatAssistantErrorText',
  'buildTextObservationFields',
  'sanitizeUserFacingText',
  'buildExecApprovalPendingReplyPayload',
  'buildExecApprovalUnavailableReplyPayload',
];
const wanted = pathToFileURL(process.env.OPENCLAW_CHUNK ?? '').href;

export async function load(url, context, next) {
  if (url !== wanted) return next(url, context);
  const source = await readFile(fileURLToPath(url), 'utf8');
  const list = names.map((name) => `${JSON.stringify(name.replace('$1', ''))}: ${name}`).join(', ');
  return {
    format: 'module',
    shortCircuit: true,
    source: `${source}\nexport const parityParts = { ${list} };\n`,
  };
}
