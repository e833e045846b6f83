import { canonicalStages } from 'sluice-kernel';
import { z } from 'zod';
import { isLocale, textProblems } from '../texts/texts.js';
import type { CancelReplyCode, FailureTexts } from './failure-text.js';
import { atOnce, milliseconds, name, setting, settingOr } from './setting.js';

/**
 * The agents that packages bring: the beginning of a name, and the form of the text behind its colon. `openai:MODEL@URL` comes from
 * the package `sluice-openai`, whose extension has the id `openai`, and gets `MODEL@URL` in its setting `asked`, a list.
 */
export const agentPackages: Readonly<Record<string, string>> = {
  acp: 'COMMAND',
  openai: 'MODEL@URL',
};

/** The names of such agents, as people write them. */
export const packageAgentForms: readonly string[] = Object.entries(agentPackages).map(
  ([scheme, rest]) => `${scheme}:${rest}`,
);

const written = (file: string): string =>
  `"echo", "replay:FILE"${file}, "claude", "claude:MODEL", "${packageAgentForms.join('", "')}", "openclaw", "openclaw:AGENT" or "ext:AGENT" of an extension`;
const schemes = Object.keys(agentPackages).join('|');
const form = new RegExp(
  `^(echo|replay:.+|claude(:.+)?|(${schemes}):.+|openclaw(:[\\w-]+)?|ext:[\\w.-]+)$`,
);

/** The agent that answers. */
export const provider = (text: string) =>
  z
    .string()
    .regex(form, `expected ${written('')}`)
    .describe(`${written(' with a recorded stream')}: ${text}`);

/** An agent of several. */
export const agent = z
  .strictObject({
    id: name.describe('the name that routes choose the agent by'),
    provider: provider('who answers'),
    systemPrompt: setting(z.string(), 'a text that every prompt of the agent begins with'),
    timeoutMs: setting(
      z.union([z.literal(false), milliseconds('how long one of its turns may take')]),
      'milliseconds, such as 10000: how long one of its turns may take, by default 600000; or false: no limit',
    ),
    maxRunning: atOnce('turns of it that run at once, of all conversations'),
  })
  .describe('an object with its name, such as { "id": "main", "provider": "echo" }');

/** The gateway that agents are behind. */
export const gateway = z.strictObject({
  url: setting(
    z.string().regex(/^wss?:\/\/./, 'expected an address that begins with "ws://" or "wss://"'),
    'the address of an OpenClaw gateway, by default "ws://127.0.0.1:18789"',
  ),
  token: setting(
    name,
    'its token, as { "env": "NAME" }; by default OPENCLAW_GATEWAY_TOKEN of the environment',
  ),
  password: setting(
    name,
    'its password instead; by default OPENCLAW_GATEWAY_PASSWORD of the environment',
  ),
  device: setting(name, 'the path of the file with the key that the gateway knows this host by'),
});

const bound = z.number().int().min(0);

/** The part of their sessions that agents get. */
export const session = z.strictObject({
  history: setting(
    z.strictObject({
      maxMessages: setting(
        bound,
        'how many messages of its session an agent gets at most, by default 200',
      ),
      maxTokens: setting(
        bound,
        'how many tokens these may have by estimate, four characters each, by default 100000',
      ),
    }),
    'an object with the bounds of the part of its session that an agent gets',
  ),
});

const expected = 'expected a text that is not empty, or false';
const textOrFalse = z.union([z.literal(false), z.string().regex(/\S/, expected)], expected);

const onFailure = (when: string) =>
  setting(
    textOrFalse,
    `a text that the sender of a message gets ${when}, or false: nothing is sent`,
  );

/** The texts for senders of messages that could not be answered, by failure code (event-pipeline §16.19). */
export const failureText = z.strictObject({
  routing: onFailure('if no agent was chosen'),
  session: onFailure('if its session could not be opened or kept'),
  busy: onFailure('if too many messages wait'),
  'no-model': onFailure('if no valid model was chosen'),
  'stage-failed': onFailure('if a stage of the turn failed closed'),
  'provider-failed': onFailure('if the agent failed'),
  'said-nothing': onFailure('if the agent ended without a text, a file or a tool call'),
  'not-written': onFailure('if the transcript could not be written'),
  'timed-out': onFailure('if the turn took longer than it may'),
  other: onFailure('for each code that has no text here'),
} satisfies Record<keyof FailureTexts, z.ZodType>);

const language = z.string().refine(isLocale, 'expected a language, such as "de" or "pt-BR"');

/** The language of the host's sentences for people, and its words for them (event-pipeline §16.25). */
export const speech = {
  locale: setting(
    language,
    'the language of those whose channel does not say theirs, such as "de"; by default English',
  ),
  texts: settingOr(
    {},
    z
      .record(
        language,
        z
          .record(z.string(), z.string().regex(/\S/, 'expected a text that is not empty'))
          .describe('an object: by its key, the sentence; see spec/texts.md'),
      )
      .superRefine((tables, check) => {
        for (const { path, problem } of textProblems(tables))
          check.addIssue({ code: 'custom', path, message: problem });
      }),
    'an object: by language, the sentences of the host and of extensions for people',
  ),
};

const onCancel = (code: string) =>
  setting(
    textOrFalse,
    `a text that the sender gets if a message is cancelled as "${code}", or false: nothing is sent`,
  );
const cancelCodes = canonicalStages.flatMap((stage) =>
  stage.cancelReplies ? stage.cancelCodes : [],
);

/** The texts for senders of cancelled messages, by code (event-pipeline §16.20). */
export const cancelText = z.strictObject(
  Object.fromEntries(cancelCodes.map((code) => [code, onCancel(code)])) as Record<
    CancelReplyCode,
    ReturnType<typeof onCancel>
  >, // the codes of the two stages that the type names
);
