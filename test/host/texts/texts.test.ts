import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import german from '../../../docs/examples/german.js';
import { checkConfig } from '../../../src/host/config/check-config.js';
import { hostTexts } from '../../../src/host/texts/host-texts.js';
import { Texts } from '../../../src/host/texts/texts.js';
import { isSluiceError } from '../../../src/kernel/internal.js';

const keys = Object.keys(hostTexts);
const { de = {} } = german.texts ?? {};
const problemsOf = (texts: unknown, locale = 'en') => {
  const verdict = checkConfig({ texts, locale }, { env: {}, readSecretFile: () => '' });
  return verdict.ok ? [] : verdict.problems.map(({ path, message }) => [path.join('/'), message]);
};
const spoken = (locale?: string) => (locale === undefined ? {} : { sender: { locale } });

describe('the sentences of a host', () => {
  it('are all there in the German of the recipe, with the same values (§20.13)', () => {
    expect(Object.keys(de).toSorted()).toEqual(keys.toSorted());
    expect(problemsOf({ de })).toEqual([]);
    const values = (text = '') => Array.from(text.matchAll(/\{\w+\}/g), String).toSorted();
    for (const key of keys)
      expect(values(de[key]), key).toEqual(values(new Map(Object.entries(hostTexts)).get(key)));
  });

  it('a key and a value that no sentence has are named at the start, and the config is refused (§20.13)', () => {
    expect(problemsOf({ de: { 'command-faild': 'x' } })).toEqual([
      [
        'texts/de/command-faild',
        'no sentence has the key "command-faild"; did you mean "command-failed"?',
      ],
    ]);
    expect(problemsOf({ de: { 'command-failed': '{nmae} ist gescheitert' } })).toEqual([
      ['texts/de/command-failed', '"command-failed" has no value {nmae}; it has {name}'],
    ]);
    expect(problemsOf({ 'x_y!': {} })).toMatchObject([['texts/x_y!', expect.any(String)]]);
    expect(problemsOf({}, 'x_y!')).toMatchObject([['locale', expect.any(String)]]);
    expect(problemsOf({ de: { stopped: ' ' } })).toMatchObject([
      ['texts/de/stopped', expect.any(String)],
    ]);
  });

  it('a program that makes a host is told the same (§20.13)', () => {
    const refused = (options: ConstructorParameters<typeof Texts>[0]) => {
      try {
        return new Texts(options) && 'it was taken';
      } catch (error) {
        return isSluiceError(error, 'bad-option') ? error.message : error;
      }
    };
    expect(refused({ texts: { de: { constructor: 'x' } } })).toContain('has the key "constructor"');
    expect(refused({ texts: { de: { stopped: '{who}' } } })).toContain(
      'has no value {who}; it has none',
    );
    expect(refused({ texts: { '': {} } })).toContain('"" is no language');
    expect(refused({ locale: '?' })).toContain('"?" is no language');
  });

  it.each([
    ['de', undefined, 'Angehalten.'],
    ['de-AT', undefined, 'Servus, angehalten.'],
    ['DE-at-1996', undefined, 'Servus, angehalten.'],
    ['de-CH', undefined, 'Angehalten.'],
    ['den', 'de', 'Angehalten.'],
    ['fr', undefined, 'Stopped.'],
    ['fr', 'de', 'Angehalten.'],
    ['en-GB', 'de', 'Stopped.'],
    [undefined, 'de', 'Angehalten.'],
    ['', 'de-AT', 'Servus, angehalten.'],
    ['constructor', 'fr', 'Stopped.'],
  ])(
    'to somebody who speaks %s, of a host in %s, they are said as %j (§20.13)',
    (tag, locale, said) => {
      const own = { 'de-AT': { stopped: 'Servus, angehalten.' }, de: { stopped: 'Angehalten.' } };
      expect(new Texts({ texts: own, locale }).to(spoken(tag))('stopped')).toBe(said);
    },
  );

  it('one that a language lacks is said as the language says that it is a form of, and then in English (§20.13)', () => {
    const texts = {
      en: { deny: 'Refuse' },
      de: { allow: 'Erlauben' },
      'de-AT': { stopped: 'Aus.' },
    };
    const say = new Texts({ texts }).to(spoken('de-AT'));
    expect([say('stopped'), say('allow'), say('deny'), say('approvals-none')]).toEqual([
      ...['Aus.', 'Erlauben', 'Refuse', hostTexts['approvals-none']],
    ]);
  });

  it('L1: the words of people in a value are said as they are, whatever they hold (§20.13)', () => {
    const say = new Texts({ texts: { de } }).to(spoken('de'));
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constantFrom('{name}', '$&', '{code}')), (name) => {
        expect(say('command-failed', { name })).toBe(`"/${name}" ist gescheitert.`);
      }),
    );
  });
});
