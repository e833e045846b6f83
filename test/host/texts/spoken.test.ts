import { describe, expect, it } from 'vitest';
import german from '../../../docs/examples/german.js';
import { echoProvider } from '../../../src/agent/index.js';
import { allow, cancel, isSluiceError } from '../../../src/kernel/internal.js';
import { defineExtension } from '../../../src/sdk/extension/index.js';
import { approvalLab, pressable, until } from '../../support/approval-lab.js';
import { hostLab } from '../../support/host-lab.js';
import { scriptedChannel } from '../../support/scripted-channel.js';

const { texts = {} } = german;

/** A channel whose senders speak the language that stands before a colon. */
const speaking = () =>
  scriptedChannel({
    decode: (raw) => {
      const { text = '' } = raw as { readonly text?: string };
      const [, locale = 'en', content = ''] = /^(\w+): (.*)$/s.exec(text) ?? [];
      const from = `scripted:${locale}`;
      const sender = { id: locale, locale };
      const message = { channel: 'scripted', from, sender, content, attachments: [], metadata: {} };
      return { kind: 'message', message: { ...message, commandAuthorized: content !== '/new' } };
    },
  });

const said = async (lines: readonly string[], options: Parameters<typeof hostLab>[0] = {}) => {
  await using lab = await hostLab({ channel: speaking(), texts, ...options });
  for (const line of lines) await lab.say(line);
  return lab.texts();
};

const fail = (): never => {
  throw new Error('no');
};

/** An extension that refuses, in the words of its sentences. */
const guard = defineExtension({
  id: 'guard',
  setup: (api) => {
    const sayTo = api.texts({ 'too-long': 'At most {count} words, please.' });
    api.veto('routing.resolving', 'length', { failClosed: true }, ({ payload: { message } }) =>
      message.content.startsWith('/')
        ? allow()
        : cancel('policy', { reply: sayTo(message)('too-long', { count: 3 }) }),
    );
    api.provide('command', { name: 'lot', description: 'Draws a lot.', run: () => 'heads' });
  },
});

describe('a host that speaks German', () => {
  it('answers each sender in his language, and in that of the config if his channel says none (§20.13)', async () => {
    const lines = ['de: /stop', 'en: /stop', 'de: /nix', 'de: /new', 'xx: /stop'];
    expect(await said(lines)).toEqual([
      'Es gibt nichts anzuhalten.',
      'There is nothing to stop.',
      'Es gibt keinen Befehl "/nix". Versuche /help.',
      'Du darfst "/new" nicht verwenden.',
      'There is nothing to stop.',
    ]);
    expect(await said(['xx: /stop'], { locale: 'de' })).toEqual(['Es gibt nichts anzuhalten.']);
  });

  it('says so that a command or a message has failed, and the operator’s failureText wins (§20.13)', async () => {
    const commands = [{ name: 'bad', description: 'Fails.', run: () => fail() }];
    const agents = [{ id: 'main', provider: { ...echoProvider(), run: () => fail() } }];
    expect(await said(['de: /bad', 'de: hi'], { commands, agents })).toEqual([
      '"/bad" ist gescheitert.',
      'Diese Nachricht konnte nicht beantwortet werden (provider-failed).',
    ]);
    expect(await said(['de: hi'], { agents, failureText: { other: 'Oje.' } })).toEqual(['Oje.']);
  });

  it('lists the commands in German: its own, and each other one that has a line (§20.13)', async () => {
    const spoken = { de: { ...texts.de, 'about-lot': 'Wirft eine Münze.' } };
    const [help = ''] = await said(['de: /help'], {
      extensions: [{ extension: guard }],
      texts: spoken,
    });
    expect(help.split('\n')).toContain('/help  Zählt die Befehle auf.');
    expect(help.split('\n')).toContain('/lot  Wirft eine Münze.');
  });

  it('lists a command of an extension whose words have braces as they are (§20.13)', async () => {
    const description = 'Takes {name} and {toString}.';
    const commands = [{ name: 'lot', description, run: () => 'heads' }];
    const [help = ''] = await said(['de: /help'], { commands });
    expect(help.split('\n')).toContain(`/lot  ${description}`);
  });

  it.each(['__proto__', 'd', 'xx'.repeat(5_000)])(
    'says its sentences in the language of the config to a sender who speaks %s (§20.13)',
    async (tag) => {
      expect(await said([`${tag}: /stop`])).toEqual(['There is nothing to stop.']);
    },
  );

  it('says the sentences of an extension as the operator has them (§20.13)', async () => {
    const extensions = [{ extension: guard }];
    const spoken = { de: { 'guard/too-long': 'Höchstens {count} Wörter, bitte.' } };
    expect(await said(['de: hallo', 'en: hello'], { extensions, texts: spoken })).toEqual([
      'Höchstens 3 Wörter, bitte.',
      'At most 3 words, please.',
    ]);
  });

  it.each([
    ['guard/too-lng', 'x', 'no sentence has the key "too-lng"; did you mean "too-long"?'],
    ['guard/too-long', '{number}', '"too-long" has no value {number}; it has {count}'],
    ['gard/too-long', 'x', 'texts.de.gard/too-long: no sentence has the key "too-long"'],
  ])(
    'does not start with the sentence %s as %j of an extension (§20.13)',
    async (key, text, problem) => {
      const started = said([], {
        extensions: [{ extension: guard }],
        texts: { de: { [key]: text } },
      });
      await expect(started).rejects.toSatisfy(
        (error) => isSluiceError(error, 'bad-option') && error.message.includes(problem),
      );
    },
  );
});

describe('a question to a German', () => {
  it('is asked, pressed and listed in German, and its words are read in both languages (§20.13)', async () => {
    const question = { scopes: ['tool', 'session'] as const };
    const lab = await approvalLab({ channel: pressable(), question, texts, locale: 'de' });
    void lab.say('v2');
    await until(() => lab.asked().length === 1);
    const [{ content = '', interactive } = {}] = lab.asked();
    const id = lab.idOf();
    expect(content.split('\n')).toEqual([
      'Bitte um Erlaubnis: Deploy this?',
      ...['Werkzeug deploy', '  what: v2'],
      'Gefragt von acting/deploys. Ohne Antwort binnen 1 Stunde ist es verboten.',
      `Antworte mit einem Knopf oder mit /approve ${id} oder /deny ${id} GRUND.`,
      `Auch für die nächsten 30 Tage: /approve ${id} immer Werkzeug|Sitzung.`,
    ]);
    expect(interactive?.buttons?.map(({ label }) => label)).toEqual([
      ...['Erlauben', 'Verbieten', 'Immer für dieses Werkzeug'],
      'Immer für dieses Werkzeug in dieser Sitzung',
    ]);
    void lab.say(`/approve ${id} immer`);
    await until(() => lab.texts().includes('Sag wofür: Werkzeug, Sitzung, Person.'));
    void lab.say('/approvals');
    await until(() => lab.texts().some((text) => text.startsWith(`${id}  noch 1 Stunde`)));
    void lab.say(`/approve ${id} Immer werkzeug`);
    await until(() => lab.ran.length === 1);
    const done = `${id} ist erlaubt, und 30 Tage lang immer für dieses Werkzeug (/approvals revoke `;
    expect(lab.texts().some((text) => text.startsWith(done))).toBe(true);
    await lab[Symbol.asyncDispose]();
  });

  it('takes the English words, too, and a press of its button (§20.13)', async () => {
    const question = { scopes: ['tool'] as const };
    const lab = await approvalLab({ channel: pressable(), question, texts, locale: 'de' });
    void lab.say('v2');
    await until(() => lab.asked().length === 1);
    void lab.say(`/approve ${lab.idOf()} always tool`);
    await until(() => lab.ran.length === 1);
    void lab.say(`!${lab.button()}`);
    await until(() => lab.texts().includes('Diese Frage ist nicht mehr offen.'));
    await lab[Symbol.asyncDispose]();
  });
});
