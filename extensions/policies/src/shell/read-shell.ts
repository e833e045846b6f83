import { forEachChild, parse, type SyntaxNode } from 'unbash';
import { afterFlags } from './flags.js';
import * as programs from './programs.js';
import { unreadOf } from './unread.js';
import {
  fileName,
  inputOf,
  known,
  openWord,
  replaced,
  type ShellWord,
  shellWordOf,
  somePath,
} from './words.js';

/** A command that a text may run. */
export interface ShellCommand {
  /** The name of the program without its folder, in small letters; `>` for a file that a redirection writes. */
  readonly program: string;
  readonly words: readonly ShellWord[];
  /** False if the words may be mere data of another program. */
  readonly isCertain: boolean;
}

/** The commands of a text of shell, as far as they can be read. */
export interface ShellReading {
  readonly commands: readonly ShellCommand[];
  /** The first reason why a part of it cannot be read for certain. */
  readonly unread: string | undefined;
}

/** The reason why a part cannot be read, if there is one. */
type Unread = string | undefined;

/** Letters of a text. */
const longestText = 100_000;
/** Letters of all texts, each times what opens in its text, and the words and nodes: the parser takes 0.1 µs for a unit. */
const workAtMost = 1_000_000;
/** Texts within texts, as of `sh -c`. */
const deepestText = 10;

/** Reads a text as bash does, in bounded time. */
export function readShell(text: string): ShellReading {
  return new Reader().read(text);
}

class Reader {
  readonly #commands: ShellCommand[] = [];
  readonly #ran = new Set<string>();
  /** Names of files that are written; an empty one for a name that is not known. */
  readonly #written = new Set<string>();
  #unread: Unread;
  #work = workAtMost;
  #depth = 0;
  /** The words at hand may be mere data. */
  #isData = false;
  /** They most likely are: what cannot be read of them does not count. */
  #isLoose = false;
  /** The words at hand are a part of words that are looked through. */
  #isSlice = false;
  /** A value is counted or taken as a name: if it has a substitution in it, that is run. */
  #counts = false;
  /** A file is run that is no program of the system. */
  #runsFile = false;

  read(text: string): ShellReading {
    try {
      this.#close(this.#text(text));
    } catch (thrown) {
      if (!(thrown instanceof RangeError)) throw thrown;
      this.#close('it is too long or too deep');
    }
    const ran = [...this.#ran];
    if (
      this.#counts &&
      (programs.hiding.test(text) || ran.some((one) => programs.filling.has(one)))
    )
      this.#close('it counts with a value that may hold a command');
    if (
      [...ran, ...ran.flatMap(programs.recipesOf)].some((one) => this.#written.has(one)) ||
      (this.#runsFile && this.#written.has('')) ||
      (this.#ran.has('') && this.#written.size > 0)
    )
      this.#close('it may run a file that it writes');
    return { commands: this.#commands, unread: this.#unread };
  }

  #close(reason: Unread): void {
    this.#unread ??= reason;
  }

  #spend(work: number): void {
    this.#work -= work;
    if (this.#work < 0) throw new RangeError('too much work');
  }

  #text(text: string | undefined): Unread {
    if (text === undefined) return 'a text that is run is not known';
    if (text.length > longestText || this.#depth >= deepestText || text.includes('\0'))
      return 'a text is too long, too deep or has a NUL';
    this.#spend(text.length * ((text.match(/[$<>]\(|\$\{|<<|`/g)?.length ?? 0) + 1));
    const isSlice = this.#isSlice;
    this.#isSlice = false;
    this.#depth++;
    this.#visit(parse(text), false);
    this.#depth--;
    this.#isSlice = isSlice;
    return undefined;
  }

  #visit(node: SyntaxNode, isPiped: boolean): void {
    this.#spend(1);
    const unread = unreadOf(node);
    if (unread === 'counts') this.#counts = true;
    else this.#close(unread);
    if (node.type === 'Pipeline') {
      for (const [index, one] of node.commands.entries()) this.#visit(one, isPiped || index > 0);
      return;
    }
    if (node.type === 'Assignment') this.#assign(shellWordOf(node));
    if (node.type === 'Redirect' && node.operator.includes('>')) {
      const file = node.target === undefined ? openWord : shellWordOf(node.target);
      this.#written.add(fileName(file.value ?? ''));
      this.#commands.push({ program: '>', words: [file], isCertain: !this.#isData });
    }
    if (node.type === 'Command' && node.name !== undefined)
      this.#run([node.name, ...node.args].map(shellWordOf), inputOf(node.redirects), isPiped);
    forEachChild(node, (child) => this.#visit(child, isPiped));
  }

  /** Reads `NAME=VALUE`: the value may be run by a program that reads the variable. */
  #assign({ start, value }: ShellWord): void {
    const [name = ''] = start.split('=');
    const text = value?.slice(name.length + 1);
    if (programs.settings.test(value ?? start)) this.#close('it sets how programs run');
    if (name === 'PATH') this.#runsFile = true;
    if (programs.runVariable.test(name)) this.#close(this.#text(text));
    else if (text !== undefined) this.#asData(() => this.#scan([known(text)], false), false);
  }

  /** Reads the words of a command. `input` is the text of its standard input, if that is known. */
  #run(all: readonly ShellWord[], input?: string, isPiped = false): void {
    const [first, ...words] = all;
    if (first === undefined) return;
    this.#spend(20 + all.length);
    const { value = '' } = first;
    const program = fileName(value).replace(/\.exe$/, '');
    if (!/^[\w./+@%:,[\]~!-]+$/.test(value) || program === '') {
      this.#close('the name of a program is not known, or has unusual letters');
      return;
    }
    this.#commands.push({ program, words, isCertain: !this.#isData });
    if (!this.#isLoose) this.#ran.add(program);
    if (/^(?!\/(usr\/(local\/)?)?s?bin\/).*\//.test(value)) this.#runsFile = true;
    for (const name of programs.writtenBy(program, words)) this.#written.add(name);
    if (programs.counts(program, words)) this.#counts = true;
    this.#close(this.#ofProgram(program, words, input, isPiped));
  }

  #ofProgram(
    program: string,
    words: readonly ShellWord[],
    input: string | undefined,
    isPiped: boolean,
  ): Unread {
    const flags = programs.wrappers.get(program);
    if (flags !== undefined) return this.#wrapped(program, words, flags, input, isPiped);
    if (programs.naming.test(program)) {
      const isUnnamed = ({ value, start }: ShellWord) =>
        value === undefined && !/^\w+=/.test(start);
      if (words.some(({ value = '' }) => programs.isCommand(value)))
        return 'it sets how programs run';
      if (!programs.filling.has(program) && words.some(isUnnamed))
        return 'the name of a variable is not known';
    }
    const isLaunching = words.some(({ value = '' }) => programs.launching.test(value));
    if (programs.plain.has(program) && !isLaunching) return undefined;
    if (isLaunching)
      for (const { value = '' } of words) this.#ran.add(fileName(value.replace(/^--[\w-]+=/, '')));
    if (words.some(({ start, value }) => programs.settings.test(value ?? start)))
      return 'it sets how programs run';
    if (programs.shells.has(program)) return this.#shell(words, input);
    if (program === 'eval' || program === 'trap') {
      const own = words[0]?.value === '--' ? words.slice(1) : words;
      const values = own.slice(0, program === 'trap' ? 1 : undefined).map(({ value }) => value);
      return this.#text(values.includes(undefined) ? undefined : values.join(' '));
    }
    if (program === 'source' || program === '.')
      return words[0] === undefined ? undefined : this.#file(words[0]);
    if (programs.interpreter.test(program))
      return this.#interpreter(/^(python|pypy)/.test(program), words);
    if (/^.?awk$|^g?sed$/.test(program))
      return filterOf(program.endsWith('awk') ? 'awk' : 'sed', words);
    if (program === 'find' || program === 'fd') return this.#find(words);
    if (programs.closing.has(program))
      return words.length > 0 ? `${program} is not read` : undefined;
    if (program === 'git') return this.#git(words, isLaunching);
    if (programs.container.test(program) && programs.quietWord.test(words[0]?.value ?? ''))
      return undefined;
    if (programs.launcher.test(program)) return this.#remote(program, words, undefined, false);
    if (programs.remote.has(program)) return this.#remote(program, words, input, isPiped);
    return this.#other(words, program);
  }

  #wrapped(
    program: string,
    words: readonly ShellWord[],
    flags: programs.Flags,
    input: string | undefined,
    isPiped: boolean,
  ): Unread {
    if (program === 'command' && /^-p*[vV]/.test(words[0]?.value ?? '')) return undefined;
    const read = afterFlags(words, flags);
    if (read === undefined) return `the flags of ${program} are not known`;
    const isSetting = /^(env|sudo|doas)$/.test(program);
    const start = read.rest.findIndex(({ start }) => !isSetting || !/^\w+=/.test(start));
    for (const one of read.rest.slice(0, start < 0 ? undefined : start)) this.#assign(one);
    if (start < 0) return undefined;
    let rest = read.rest.slice(start + (flags.words ?? 0));
    if (program === 'xargs' && rest.length > 0) {
      const [letter, mark] = read.given.find(([one]) => one === 'I') ?? [];
      if (letter !== undefined && mark === undefined) return 'the mark of xargs is not known';
      rest =
        mark === undefined ? [...rest, openWord] : rest.map((one) => replaced(one, mark, openWord));
    }
    this.#run(rest, input, isPiped);
    return undefined;
  }

  #shell(words: readonly ShellWord[], input: string | undefined): Unread {
    let letters = '';
    let at = 0;
    for (; at < words.length; at++) {
      const { value = '' } = words[at] ?? openWord;
      if (/^--(version|help)$/.test(value)) return undefined;
      if (/^--(login|norc|noprofile|posix)$/.test(value)) continue;
      if (!/^[-+][A-Za-z]+$/.test(value)) break;
      letters += value.startsWith('-') ? value : '';
      at += value.match(/o/gi)?.length ?? 0;
    }
    if (/^--?$/.test(words[at]?.value ?? '')) at++;
    if (letters.includes('i')) return 'a shell for people reads files of theirs';
    if (letters.includes('c')) return this.#text(words[at]?.value);
    return words[at] === undefined || letters.includes('s')
      ? this.#text(input)
      : this.#file(words[at]);
  }

  /** A file of commands: it is not read. */
  #file(file: ShellWord | undefined): Unread {
    const { value, start, isOpen } = file ?? openWord;
    if (isOpen || /^([-+]|$)|^\/(dev|proc)\//.test(start)) return 'a text that is run is not known';
    this.#runsFile = true;
    if (value === undefined) this.#ran.add('');
    else for (const end of ['', '.js', '.py']) this.#ran.add(fileName(value) + end);
    return undefined;
  }

  #interpreter(isPython: boolean, words: readonly ShellWord[]): Unread {
    const at = words.findIndex(
      ({ value = '-' }) =>
        !programs.harmless.test(value) && !(isPython && programs.harmlessOfPython.test(value)),
    );
    const word = words[at];
    if (isPython && word?.value === '-m') {
      const name = words[at + 1]?.value ?? '-';
      for (const part of name.split('.')) this.#file(known(`${part}.py`));
      return /^-/.test(name) || programs.runningModule.test(name)
        ? 'a text of another language is run'
        : this.#other(words.slice(at + 1));
    }
    if (word === undefined && words.some(({ start }) => /^(-[vVh]|--(version|help))$/.test(start)))
      return undefined;
    return word?.value === 'eval' ? 'a text of another language is run' : this.#file(word);
  }

  #find(words: readonly ShellWord[]): Unread {
    for (const [index, { value = '' }] of words.entries()) {
      if (!/^(-exec|-execdir|-ok|-okdir|-x|-X|--exec|--exec-batch)$/.test(value)) continue;
      const after = words.slice(index + 1);
      const end = after.findIndex((one) => one.value === ';' || one.value === '+');
      this.#run(
        after.slice(0, end < 0 ? undefined : end).map((one) => replaced(one, '{}', somePath)),
      );
    }
    if (!words.some(({ isOpen }) => isOpen)) return undefined;
    return words.some(({ isMany }) => isMany)
      ? 'the words of find are not known'
      : this.#other(words);
  }

  #git(words: readonly ShellWord[], isLaunching: boolean): Unread {
    let at = 0;
    for (; words[at]?.isOpen === true || words[at]?.value?.startsWith('-') === true; at++) {
      const { value, start, isMany } = words[at] ?? openWord;
      if (value === '-C' && words[at + 1]?.isMany === false) at++;
      else if (value === '-c' && isQuiet(words[at + 1])) at++;
      else if (!programs.quietFlag.test(value ?? start) || isMany)
        return 'the flags of git are not known';
    }
    const own = words.slice(at);
    const [{ value = '' } = openWord] = own;
    const isSetting = value === 'clone' && own.some(({ start }) => /^(-c|--conf)/.test(start));
    if (!isLaunching && !isSetting && !programs.running.has(value)) return undefined;
    this.#asData(() => this.#scan(own, true), true);
    const isOpen = own.some((one, index) => one.value === undefined && !isQuiet(own[index - 1]));
    return isOpen ? 'a word of git that may be run is not known' : undefined;
  }

  #remote(
    program: string,
    words: readonly ShellWord[],
    input: string | undefined,
    isPiped: boolean,
  ): Unread {
    this.#asData(() => {
      this.#scan(words, true);
      if (input !== undefined) this.#close(this.#text(input));
    }, true);
    const isContainer = programs.container.test(program);
    const isOpen =
      isPiped ||
      words.some(
        ({ value, isMany }, at) =>
          value === undefined &&
          (isMany || !isContainer || !programs.valueFlag.test(words[at - 1]?.value ?? '')),
      );
    return isOpen ? 'a program that runs others has words or input that are not known' : undefined;
  }

  /** A program that none is known to run others by: words that look like a command may still be one. */
  #other(words: readonly ShellWord[], program = ''): Unread {
    this.#asData(() => this.#scan(words, false), false);
    if (/^g?make$/.test(program) && words.some(({ start }) => /^-f?-?$|^\/dev\//.test(start)))
      return 'a makefile of its input is not read';
    if (programs.texted.test(program))
      for (const [index, { value, start }] of words.entries()) {
        const before = words[index - 1]?.value ?? (/x$/.test(program) ? 'x' : '');
        if (!programs.textFlag.test(before) && !programs.textFlag.test(start)) continue;
        if (value === undefined) return 'a text that is run is not known';
        this.#ran.add(fileName(value.replace(/^--[\w-]+=/, '')));
      }
    const at = words.findIndex(({ value = '' }, index) => {
      const name = fileName(value);
      const isRun = programs.shells.has(name) || programs.interpreter.test(name);
      return isRun && /^-\w*[cepErn]|^--(eval|print)/.test(words[index + 1]?.start ?? '');
    });
    if (at < 0) return undefined;
    const [{ value = '' } = openWord, ...rest] = words.slice(at);
    return this.#ofProgram(fileName(value), rest, undefined, false);
  }

  /** Reads words that may be mere data: what it finds is not certain, and what it cannot read counts if `isStrict`. */
  #asData(work: () => void, isStrict: boolean): void {
    const before = { isData: this.#isData, isLoose: this.#isLoose, unread: this.#unread };
    if (this.#isSlice && !isStrict) return;
    this.#isData = true;
    this.#isLoose ||= !isStrict;
    work();
    this.#isData = before.isData;
    this.#isLoose = before.isLoose;
    if (!isStrict) this.#unread = before.unread;
  }

  /** Looks for a command in words, and in the texts among them. */
  #scan(words: readonly ShellWord[], isStrict: boolean): void {
    const before = this.#isSlice;
    for (const [index, { value }] of words.entries()) {
      if (value === undefined) continue;
      this.#isSlice = true;
      const text = value.replace(/^(--[\w-]+=|-[A-Za-z](?=\S)|[\w.-]+=!?|\+?!|ext::)+/, '');
      if (/[\s;|&'"\\$]/.test(text)) this.#close(this.#text(text));
      else if (
        !value.startsWith('-') &&
        fileName(value) !== '' &&
        (isStrict || index < words.length - 1)
      )
        this.#run(words.slice(index));
      this.#isSlice = before;
    }
  }
}

/** Returns whether a setting of git, with or without its value, runs nothing. */
function isQuiet(word: ShellWord | undefined): boolean {
  return word?.isMany === false && programs.quietSetting.test(word.start);
}

/** Returns why a text of awk or sed may run a command. */
function filterOf(name: 'awk' | 'sed', words: readonly ShellWord[]): Unread {
  const { flags, safe } = programs.filters[name];
  const isSed = name === 'sed';
  const own = words.filter(({ value }) => !isSed || !/^$|^-i|^--in-place/.test(value ?? '-'));
  const { rest = [openWord], given = [] } = afterFlags(own, flags) ?? {};
  const scripts = given.flatMap(([letter, value]) => (letter === 'e' ? [value] : []));
  if (scripts.length === 0) scripts.push(rest[0]?.value);
  const late = isSed ? rest.slice(1) : [];
  const isSafe =
    !late.some(({ value, isOpen }) => isOpen || value?.startsWith('-') === true) &&
    scripts
      .flatMap((one) => (isSed && one !== undefined ? one.split(/[;\n]/) : [one]))
      .every((one) => one !== undefined && one.length < 1_000 && safe.test(one));
  return isSafe ? undefined : `a text of ${name} may run a command`;
}
