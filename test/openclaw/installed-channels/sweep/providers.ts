import { feishuStandIn } from '../feishu-server.js';
import { direct, mattermostStandIn } from '../mattermost-server.js';
import { cloudStandIn } from '../nextcloud-server.js';
import { ircPerson, startNgircd } from '../ngircd.js';
import { signalStandIn } from '../signal-server.js';
import { nasStandIn } from '../synology-server.js';

/** The provider of a channel, on loopback, as the sweep uses it. */
export interface Provider extends AsyncDisposable {
  readonly account: object;
  /** The address of somebody. */
  readonly to: string;
  /** Brings a text, once it can be brought: it waits for the line of the log, if there is one. @returns the status of the request, if it is one. */
  bring(text: string, url: string): Promise<number | undefined>;
  readonly isReady?: RegExp;
  /** All that has gone out. */
  said(): string;
}

/** The channels of OpenClaw 2026.9 that run here, each with its package. */
export const providers: Readonly<
  Record<string, { readonly spec: string; start(): Promise<Provider> }>
> = {
  signal: {
    spec: '@openclaw/signal@2026.9.6',
    start: async () => {
      const daemon = await signalStandIn();
      return {
        ...{ account: daemon.account, to: '+15550000002' },
        bring: async (text) => {
          daemon.bring(await daemon.listening, '+15550000002', text, 1);
          return undefined;
        },
        said: () => JSON.stringify(daemon.sent),
        [Symbol.asyncDispose]: daemon[Symbol.asyncDispose],
      };
    },
  },
  mattermost: {
    spec: '@openclaw/mattermost@2026.9.5',
    start: async () => {
      const server = await mattermostStandIn();
      return {
        ...{ account: server.account, to: `channel:${direct}` },
        bring: async (message) => {
          const post = { id: 'p1', channel: direct, type: 'D', message };
          server.post(await server.connected, post);
          return undefined;
        },
        said: () => JSON.stringify(server.posted),
        [Symbol.asyncDispose]: server[Symbol.asyncDispose],
      };
    },
  },
  feishu: {
    spec: '@openclaw/feishu@2026.9.5',
    start: async () => {
      const cloud = await feishuStandIn();
      return {
        ...{ account: cloud.account, to: 'user:ou_ada', isReady: /Webhook server listening/ },
        bring: (text) => cloud.bring(text, 'e1'),
        said: () => JSON.stringify(cloud.said),
        [Symbol.asyncDispose]: cloud[Symbol.asyncDispose],
      };
    },
  },
  'nextcloud-talk': {
    spec: '@openclaw/nextcloud-talk@2026.9.5',
    start: async () => {
      const cloud = await cloudStandIn();
      return {
        ...{ account: cloud.account, to: 'den', isReady: /webhook listening/ },
        bring: (text) => cloud.bring(text, 1),
        said: () => JSON.stringify(cloud.said),
        [Symbol.asyncDispose]: cloud[Symbol.asyncDispose],
      };
    },
  },
  'synology-chat': {
    spec: '@openclaw/synology-chat@2026.9.4',
    start: async () => {
      const nas = await nasStandIn();
      return {
        ...{ account: nas.account, to: '1' },
        bring: (text, url) => nas.bring(url, text, '1'),
        said: () => JSON.stringify(nas.posted),
        [Symbol.asyncDispose]: nas[Symbol.asyncDispose],
      };
    },
  },
  irc: {
    spec: '@openclaw/irc@2026.9.5',
    start: async () => {
      const server = await startNgircd();
      const ada = await ircPerson(server.port, 'ada', '#room');
      const named = { nick: 'slb', username: 'slb', realname: 'slb', channels: ['#room'] };
      return {
        account: {
          ...{ host: '127.0.0.1', port: server.port, tls: false, ...named },
          ...{ dmPolicy: 'open', allowFrom: ['*'], groupPolicy: 'open' },
        },
        to: 'ada',
        bring: async (text) => {
          await ada.meets('slb', '#room');
          ada.say('slb', text);
          return undefined;
        },
        said: () => JSON.stringify(ada.heard),
        [Symbol.asyncDispose]: async () => {
          await ada[Symbol.asyncDispose]();
          await server[Symbol.asyncDispose]();
        },
      };
    },
  },
};
