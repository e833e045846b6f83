import { describe, expectTypeOf, it } from 'vitest';
import type { ExtensionApi } from '../../src/index.js';
import type { AskedQuestion, Question, QuestionPlace } from '../../src/sdk/extension/index.js';

const place: QuestionPlace = { channel: 'telegram', to: '42' };

describe('the types of a question (extensions-that-act §7.1)', () => {
  it('give the handler the data that ask has to be given', () => {
    const use = async ({ question }: ExtensionApi): Promise<void> => {
      const confirm = question<{ build: string }>('deploy', (end) => {
        expectTypeOf(end.data).toEqualTypeOf<{ build: string }>();
        expectTypeOf(end.signal).toEqualTypeOf<AbortSignal>();
      });
      expectTypeOf(confirm).toEqualTypeOf<Question<{ build: string }>>();
      const asked = await confirm.ask(place, 'Deploy?', { data: { build: '7' }, key: 'k' });
      expectTypeOf(asked).toEqualTypeOf<AskedQuestion>();
      // @ts-expect-error its data is missing
      await confirm.ask(place, 'Deploy?');
      // @ts-expect-error its data is missing
      await confirm.ask(place, 'Deploy?', { key: 'k' });
      // @ts-expect-error its data is another
      await confirm.ask(place, 'Deploy?', { data: { build: 7 } });
    };
    expectTypeOf(use).returns.toEqualTypeOf<Promise<void>>();
  });

  it('let data be left out where there is none, and refuse what cannot be kept', () => {
    const use = async ({ question }: ExtensionApi): Promise<void> => {
      const name = question('name', ({ data }) => {
        expectTypeOf(data).toEqualTypeOf<undefined>();
      });
      await name.ask(place, 'What is your name?');
      await name.ask(place, { content: 'Who?', options: ['Ada', { id: 'b', label: 'Ben' }] }, {});
      // @ts-expect-error it has no data
      await name.ask(place, 'Who?', { data: 7 });
      // @ts-expect-error there is no such option
      await name.ask(place, 'Who?', { timeout: 7 });
      // @ts-expect-error an option has a label
      await name.ask(place, { content: 'Who?', options: [{ id: 'b' }] });
      // @ts-expect-error it says nothing
      await name.ask(place, { options: ['Ada'] });
      // @ts-expect-error it is asked somewhere
      await name.ask({ channel: 'telegram' }, 'Who?');
      const dated = question<{ at: Date }>('dated', () => undefined);
      // @ts-expect-error a date is no JSON
      await dated.ask(place, 'When?', { data: { at: new Date() } });
    };
    expectTypeOf(use).returns.toEqualTypeOf<Promise<void>>();
  });

  it('have the answer only where there is one', () => {
    const use = ({ question }: ExtensionApi): unknown =>
      question('deploy', (end) => {
        // @ts-expect-error it may have expired
        end.answer;
        if (end.status === 'answered') {
          expectTypeOf(end.answer).toEqualTypeOf<string>();
          expectTypeOf(end.from).toEqualTypeOf<{ readonly id: string; readonly name?: string }>();
        } else expectTypeOf(end.status).toEqualTypeOf<'expired' | 'not-sent'>();
      });
    expectTypeOf(use).returns.toEqualTypeOf<unknown>();
  });
});
