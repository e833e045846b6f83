/** Plain data of any keys. */
export type Fields = Readonly<Record<string, unknown>>;

/** A published plugin that the job tries. */
export interface CorpusPlugin {
  /** `oc-irc` is a bundled extension of OpenClaw; the others are packages of the registry. */
  readonly id: string;
  /** The package of the registry with its version. Absent for a bundled one, which comes with OpenClaw. */
  readonly spec?: string;
  /** The packages that a bundled one needs and OpenClaw does not install with itself. */
  readonly dependencies?: Readonly<Record<string, string>>;
  /**
   * Placeholder configuration of its own. `@SERVER@` is the place of a server on loopback, which answers all that it is asked, and
   * `@HOME@` the temporary folder.
   */
  readonly config?: Fields;
  /** Placeholder parts of the OpenClaw configuration: that of its channel, say. */
  readonly openclaw?: Fields;
  /** The JSON that the server answers, by a part of the path or of what it is asked; `{}` by default. A `data:` text is a file. */
  readonly answers?: Readonly<Record<string, unknown>>;
  /** The hosts of the outside that the server stands in for, if the plugin asks them by `fetch`: their names begin the path then. */
  readonly outside?: readonly string[];
  /** The programs that it calls: stand-ins that print a text, by a part of their arguments. */
  readonly programs?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The files that it finds in its home, by their paths. `@HOME@` is the home. */
  readonly files?: Readonly<Record<string, string>>;
  /** Further variables of its environment. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * The arguments of its tools, by `tool NAME`, if their schemas do not say enough, the params of its methods, by `method NAME`, the
   * `args` of its commands, by `cli NAME`, and requests, by `route PATH`. `@NAME@` is that field of an answer before it.
   */
  readonly inputs?: Readonly<Record<string, Fields>>;
  /** The HTTP routes that it has once its accounts have started. */
  readonly routes?: number;
  /**
   * The things that it asks of the outside, by the call that needs them: `tool search` -> `a search server`. `tool web_*` is
   * each of them that fails; a name alone counts even if the plugin says that the call worked.
   */
  readonly needs?: Readonly<Record<string, string>>;
  /** The release of OpenClaw that it was built for, if that is not 2026.3. */
  readonly release?: '2026.9.6';
  /** `npm run test:channels` talks both ways by its channel, with a server on loopback. */
  readonly talks?: boolean;
  /** A package that it cannot be installed without, and that the registry does not have. It is not tried. */
  readonly absent?: string;
  /** It is one of those that every change is tried with. */
  readonly inCi?: true;
}

/** The placeholder account of a bundled channel. */
function channel(id: string, account: Fields): Fields {
  return { channels: { [id]: { enabled: true, dmPolicy: 'open', allowFrom: ['*'], ...account } } };
}

const dummy = 'placeholder-secret-0000000000000000';

/** An image of one point. */
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const phone = '+15550000001';
const weCom = { token: 'placeholder', encodingAESKey: 'a'.repeat(43), webhookPath: '/wecom' };
const inShop = ['-w', '@HOME@', '-p', 'tea'];
const inTea = { channelId: 'tea-1' };
const issue = {
  ...{ number: 1, title: 'Green tea', body: 'Brew it.', labels: [{ name: 'Planning' }] },
  ...{ state: 'OPEN', url: 'https://github.com/ada/tea/issues/1' },
};
const said = JSON.stringify({ type: 'result', subtype: 'success', result: 'green tea' });
const team = ['--team-id', 'tea-team'];
const ticket = ['--ticket', '0001'];
const brew = ['--team-id', 'brew-team'];
const brewRun = ['--run-id', 'run-1'];
const brewing = 'workspace-brew-team/shared-context';
/** A workflow that asks a person before it ends. */
const brewWorkflow = {
  ...{ id: 'brew', name: 'Brew' },
  nodes: [
    { id: 'start', kind: 'start' },
    { id: 'ask', kind: 'human_approval', assignedTo: { agentId: 'brewer' } },
    { id: 'end', kind: 'end' },
  ],
  edges: [
    { from: 'start', to: 'ask' },
    { from: 'ask', to: 'end' },
  ],
};
const nostr = {
  inputs: {
    'route /api/channels/nostr (prefix)': {
      ...{ method: 'GET', path: '/api/channels/nostr/default/profile' },
    },
  },
  openclaw: {
    ...channel('nostr', { privateKey: '1'.repeat(64), relays: ['ws://@SERVER@'] }),
    gateway: { auth: { token: dummy } },
  },
};

/** The bundled extensions of openclaw@2026.3.13. */
const bundled: readonly CorpusPlugin[] = [
  { id: 'oc-acpx', dependencies: { acpx: '0.3.0' } },
  {
    id: 'oc-bluebubbles',
    talks: true,
    routes: 1,
    openclaw: channel('bluebubbles', { serverUrl: 'http://@SERVER@', password: dummy }),
  },
  { id: 'oc-copilot-proxy' },
  { id: 'oc-device-pair', inCi: true, config: { publicUrl: 'ws://@SERVER@' } },
  {
    id: 'oc-diagnostics-otel',
    dependencies: {
      '@opentelemetry/api': '1.9.0',
      '@opentelemetry/api-logs': '0.213.0',
      '@opentelemetry/exporter-logs-otlp-proto': '0.213.0',
      '@opentelemetry/exporter-metrics-otlp-proto': '0.213.0',
      '@opentelemetry/exporter-trace-otlp-proto': '0.213.0',
      '@opentelemetry/resources': '2.6.0',
      '@opentelemetry/sdk-logs': '0.213.0',
      '@opentelemetry/sdk-metrics': '2.6.0',
      '@opentelemetry/sdk-node': '0.213.0',
      '@opentelemetry/sdk-trace-base': '2.6.0',
      '@opentelemetry/semantic-conventions': '1.40.0',
    },
  },
  {
    id: 'oc-diffs',
    inputs: {
      'tool diffs': { before: 'green tea', after: 'black tea', mode: 'view' },
      'route /plugins/diffs (prefix)': { method: 'GET', path: '/plugins/diffs/view/none/none' },
    },
    dependencies: { '@pierre/diffs': '1.1.0' },
  },
  { id: 'oc-discord', openclaw: channel('discord', { token: dummy }) },
  {
    id: 'oc-feishu',
    talks: true,
    answers: {
      tenant_access_token: { code: 0, tenant_access_token: 't', expire: 7_200 },
      '': { code: 0, msg: 'ok', data: { app: { app_token: 'a' }, record: {}, items: [] } },
    },
    inputs: {
      'tool feishu_doc': { action: 'read', doc_token: 'd' },
      'tool feishu_bitable_get_meta': { url: 'https://tea.feishu.cn/base/a?table=t' },
    },
    openclaw: channel('feishu', {
      ...{ appId: 'cli_placeholder', appSecret: dummy, domain: 'http://@SERVER@' },
    }),
  },
  { id: 'oc-google-gemini-cli-auth' },
  {
    id: 'oc-googlechat',
    openclaw: channel('googlechat', { audienceType: 'app-url', audience: 'http://@SERVER@' }),
  },
  { id: 'oc-imessage', openclaw: channel('imessage', { cliPath: '/nowhere/imsg' }) },
  {
    id: 'oc-irc',
    inCi: true,
    talks: true,
    openclaw: channel('irc', { host: '127.0.0.1', port: 9, tls: false, nick: 'placeholder' }),
  },
  { id: 'oc-line', openclaw: channel('line', { channelAccessToken: dummy, channelSecret: dummy }) },
  { id: 'oc-llm-task', needs: { 'tool *': 'a model of OpenClaw, whose agent it runs' } },
  {
    id: 'oc-lobster',
    inputs: { 'tool lobster': { action: 'run', pipeline: 'tea | brew' } },
    programs: {
      lobster: {
        run: JSON.stringify({
          ok: true,
          status: 'ok',
          output: ['green tea'],
          requiresApproval: null,
        }),
      },
    },
  },
  {
    id: 'oc-matrix',
    dependencies: {
      '@matrix-org/matrix-sdk-crypto-nodejs': '0.4.0',
      '@vector-im/matrix-bot-sdk': '0.8.0-element.3',
    },
    openclaw: channel('matrix', {
      homeserver: 'http://@SERVER@',
      userId: '@placeholder:localhost',
      accessToken: dummy,
    }),
  },
  {
    id: 'oc-mattermost',
    talks: true,
    needs: { 'route *': 'slash commands that a Mattermost server has taken' },
    openclaw: channel('mattermost', { botToken: dummy, baseUrl: 'http://@SERVER@' }),
  },
  { id: 'oc-memory-core', inCi: true },
  {
    id: 'oc-memory-lancedb',
    dependencies: { '@lancedb/lancedb': '0.26.2' },
    config: { embedding: { apiKey: dummy } },
    needs: {
      'hook before_agent_start': 'a server of embeddings',
      'tool *': 'a server of embeddings',
      'cli *': 'the native code of LanceDB',
    },
  },
  { id: 'oc-minimax-portal-auth' },
  {
    id: 'oc-msteams',
    dependencies: { '@microsoft/agents-hosting': '1.3.1' },
    openclaw: channel('msteams', { appId: 'placeholder', appPassword: dummy, tenantId: 'none' }),
  },
  {
    id: 'oc-nextcloud-talk',
    talks: true,
    openclaw: channel('nextcloud-talk', { baseUrl: 'http://@SERVER@', botSecret: dummy }),
  },
  { id: 'oc-nostr', dependencies: { 'nostr-tools': '2.23.3' }, ...nostr },
  { id: 'oc-ollama' },
  { id: 'oc-open-prose' },
  { id: 'oc-phone-control', inCi: true },
  { id: 'oc-qwen-portal-auth' },
  { id: 'oc-sglang' },
  { id: 'oc-signal', openclaw: channel('signal', { account: '+10000000000' }) },
  {
    id: 'oc-slack',
    openclaw: channel('slack', { botToken: 'xoxb-placeholder', appToken: 'xapp-placeholder' }),
  },
  {
    id: 'oc-synology-chat',
    talks: true,
    routes: 1,
    openclaw: channel('synology-chat', { token: dummy, incomingUrl: 'http://@SERVER@' }),
  },
  { id: 'oc-talk-voice' },
  { id: 'oc-telegram', openclaw: channel('telegram', { botToken: '1:placeholder' }) },
  { id: 'oc-thread-ownership', inCi: true, config: { forwarderUrl: 'http://@SERVER@' } },
  { id: 'oc-tlon', absent: '@tloncorp/api' },
  {
    id: 'oc-twitch',
    dependencies: { '@twurple/api': '8.0.3', '@twurple/auth': '8.0.3', '@twurple/chat': '8.0.3' },
    openclaw: channel('twitch', {
      username: 'placeholder',
      accessToken: dummy,
      clientId: 'placeholder',
      channel: 'placeholder',
    }),
  },
  { id: 'oc-vllm' },
  {
    id: 'oc-voice-call',
    needs: {
      'method voicecall.continue': 'somebody who answers the phone',
      'cli voicecall continue': 'somebody who answers the phone',
      'cli voicecall tail': 'a terminal: it shows calls until it is stopped',
    },
    inputs: {
      'tool voice_call': { action: 'get_status', callId: 'none' },
      'method voicecall.initiate': { to: phone, message: 'green tea' },
      'method voicecall.speak': { callId: '@callId@', message: 'black tea' },
      'method voicecall.end': { callId: '@callId@' },
      'method voicecall.status': { callId: '@callId@' },
      'method voicecall.start': { to: phone, message: 'green tea' },
      'cli voicecall call': { args: ['--to', phone, '--message', 'green tea'] },
      'cli voicecall speak': { args: ['--call-id', '@callId@', '--message', 'black tea'] },
      'cli voicecall end': { args: ['--call-id', '@callId@'] },
    },
    programs: { tailscale: { status: '{"Self":{"DNSName":"tea.test.","ID":"n-1"}}', '': '' } },
    inCi: true,
    config: { provider: 'mock', maxConcurrentCalls: 4 },
  },
  { id: 'oc-whatsapp', openclaw: channel('whatsapp', {}) },
  { id: 'oc-zalo', openclaw: channel('zalo', { botToken: dummy }) },
  {
    id: 'oc-zalouser',
    needs: { 'tool *': 'a login at Zalo' },
    dependencies: { 'zca-js': '2.1.1' },
    openclaw: channel('zalouser', {}),
  },
];

/** Packages of others. */
const published: readonly CorpusPlugin[] = [
  {
    id: 'aiassesstech-grillo',
    spec: '@aiassesstech/grillo@0.1.43',
    absent: '@aiassesstech/fleet-alerting',
  },
  {
    id: 'askjo-camofox-browser',
    needs: {
      'command /camofox':
        'a reply of its own: its code writes to a log that OpenClaw does not have',
    },
    inCi: true,
    spec: '@askjo/camofox-browser@1.5.2',
    config: { autoStart: false, url: 'http://@SERVER@' },
    env: { CAMOFOX_API_KEY: dummy },
    files: { '.camofox/cookies/tea.txt': 'tea.test\tTRUE\t/\tFALSE\t0\tleaf\tgreen\n' },
    inputs: {
      'tool camofox_import_cookies': { cookiesPath: 'tea.txt' },
      'tool camofox_snapshot': { tabId: '@tabId@' },
    },
    answers: {
      health: { status: 'ok', engine: 'camoufox', activeTabs: 1 },
      'tabs?': [{ tabId: 'tab-1', userId: 'main', url: 'http://tea.test', title: 'Tea' }],
      screenshot: `data:image/png;base64,${pixel}`,
      snapshot: { url: 'http://tea.test', snapshot: '- link "Green tea" [e1]', refsCount: 1 },
      cookies: { ok: true, count: 1 },
      evaluate: { ok: true, result: 'Tea' },
      '': { ok: true, tabId: 'tab-1', url: 'http://tea.test' },
    },
  },
  {
    id: 'calltelemetry-openclaw-linear',
    needs: {
      'cli openclaw-linear setup': 'a terminal',
      'cli openclaw-linear notify setup': 'a terminal',
      'cli openclaw-linear auth': 'a browser that signs in at Linear',
      'cli openclaw-linear webhooks delete': 'a webhook of Linear, by its id',
      'tool plan_*': 'a session of planning, which a webhook of Linear begins',
      'tool steer_agent': 'an agent that runs in tmux',
      'tool capture_agent_output': 'an agent that runs in tmux',
      'tool abort_agent': 'an agent that runs in tmux',
    },
    inCi: true,
    spec: '@calltelemetry/openclaw-linear@0.9.29',
    config: {
      accessToken: 'lin_api_placeholder',
      notifications: { targets: [{ channel: 'discord', target: 'tea' }] },
      codexBaseRepo: '@HOME@',
      ...{ claudeBin: '@HOME@/bin/claude', codexBin: '@HOME@/bin/codex' },
      geminiBin: '@HOME@/bin/gemini',
    },
    files: {
      '.openclaw/agent-profiles.json':
        '{"agents":{"brewer":{"label":"Brewer","isDefault":true,"mentionAliases":["brewer"]}}}',
    },
    outside: ['api.linear.app'],
    programs: {
      openclaw: { '': '{"result":{"payloads":[{"text":"green tea"}]}}' },
      ...{ claude: { '': said }, codex: { '': said }, gemini: { '': said } },
      git: { 'rev-parse': '.git' },
    },
    inputs: {
      'tool linear_issues': { action: 'list_labels', teamId: 'team-1' },
      'tool cli_codex': { workingDir: '@HOME@' },
      'tool cli_claude': { workingDir: '@HOME@' },
      'tool cli_gemini': { workingDir: '@HOME@' },
    },
    answers: {
      graphql: {
        data: {
          ...{ viewer: { id: 'u-1', name: 'Ada', email: 'ada@tea.test' } },
          organization: { id: 'o-1', name: 'Tea', urlKey: 'tea' },
          team: { labels: { nodes: [{ id: 'l-1', name: 'green' }] }, states: { nodes: [] } },
          teams: { nodes: [{ id: 'team-1', name: 'Tea', key: 'TEA' }] },
          webhooks: {
            nodes: [
              {
                ...{
                  id: 'w-1',
                  url: 'https://linear.calltelemetry.com/linear/webhook',
                  enabled: true,
                },
                ...{ resourceTypes: ['Comment', 'Issue'], allPublicTeams: true, label: 'tea' },
              },
            ],
          },
          webhookCreate: { success: true, webhook: { id: 'w-1', enabled: true } },
          webhookDelete: { success: true },
        },
      },
    },
  },
  { id: 'gekkocompany-orchestra', inCi: true, spec: '@gekkocompany/orchestra@0.3.22' },
  {
    id: 'happycastle-oh-my-openclaw',
    inputs: {
      'tool omoc_delegate': { category: 'quick' },
      'tool omoc_todo_create': {},
      'tool omoc_todo_update': { id: '@id@', status: 'completed' },
    },
    needs: {
      'method *': 'a call of respond, which its code does not make: it returns its answer',
    },
    programs: { gemini: { '': 'It shows green tea.' } },
    files: { '.openclaw/openclaw.json': '{ "agents": { "list": [] } }' },
    inCi: true,
    spec: '@happycastle/oh-my-openclaw@0.21.3',
  },
  { id: 'jasper-context-compactor', inCi: true, spec: 'jasper-context-compactor@0.4.1' },
  {
    id: 'jiggai-recipes',
    programs: {
      openclaw: { 'cron add': '{"id":"job-1"}', 'cron list': '{"jobs":[]}', '': '{}' },
    },
    needs: {
      'cli recipes install-skill': 'a skill of ClawHub',
    },
    files: {
      'workspace/teams/old-team/TEAM.md': '# Old tea\n',
      'workspace/agents/old-team-lead/SOUL.md': '# Lead\n',
      [`${brewing}/workflows/brew.workflow.json`]: JSON.stringify(brewWorkflow),
      [`${brewing}/workflow-runs/run-1/run.json`]: JSON.stringify({
        ...{ runId: 'run-1', teamId: 'brew-team', status: 'awaiting_approval', events: [] },
        ...{ workflow: { file: 'brew.workflow.json' }, ticket: { file: 'work/backlog/0001.md' } },
        nodeStates: { start: { status: 'success', ts: '2026-11-23T00:00:00Z' } },
      }),
      [`${brewing}/workflow-runs/run-1/approvals/approval.json`]:
        '{"runId":"run-1","teamId":"brew-team","nodeId":"ask","status":"pending"}',
    },
    inputs: {
      'cli recipes show': { args: ['development-team'] },
      'cli recipes scaffold': { args: ['developer', '--agent-id', 'brewer'] },
      'cli recipes scaffold-team': { args: ['development-team', ...team] },
      'cli recipes dispatch': { args: [...team, '--request', 'green tea', '--yes'] },
      'cli recipes tickets': { args: team },
      'cli recipes add-role': {
        args: [...team, '--role', 'tester2', '--recipe', 'workflow-runner-addon', '--no-cron'],
      },
      'cli recipes take': { args: [...team, ...ticket, '--yes'] },
      'cli recipes assign': {
        args: [...team, ...ticket, '--owner', 'dev', '--yes', '--overwrite'],
      },
      'cli recipes handoff': { args: [...team, ...ticket, '--yes', '--overwrite'] },
      'cli recipes move-ticket': { args: [...team, ...ticket, '--to', 'backlog', '--yes'] },
      'cli recipes complete': { args: [...team, ...ticket, '--yes'] },
      'cli recipes workflows run': { args: [...brew, '--workflow-file', 'brew.workflow.json'] },
      'cli recipes workflows approve': { args: [...brew, ...brewRun, '--approved', 'true'] },
      'cli recipes workflows resume': { args: [...brew, ...brewRun] },
      'cli recipes migrate-team': { args: ['--team-id', 'old-team', '--mode', 'copy'] },
      'cli recipes remove-team': { args: [...team, '--yes'] },
      'cli recipes install': { args: ['tea', '--registry-base', 'http://@SERVER@'] },
      'cli recipes install-recipe': {
        args: ['tea', '--registry-base', 'http://@SERVER@', '--overwrite'],
      },
    },
    answers: {
      'recipes/tea': { recipe: { sourceUrl: 'http://@SERVER@/tea.md' }, ok: true },
      'tea.md': '---\nid: tea\n---\n',
    },
    openclaw: { agents: { defaults: { workspace: '@HOME@/workspace' } } },
    inCi: true,
    spec: '@jiggai/recipes@0.5.2',
  },
  {
    id: 'laurentenhoor-devclaw',
    needs: {
      'tool work_finish': 'an agent of OpenClaw that works on a task',
      'tool autoconfigure_models': 'models that OpenClaw knows',
      'cli devclaw setup': 'an agent of OpenClaw, by its workspace',
    },
    programs: {
      git: { 'remote get-url': 'https://github.com/ada/tea.git' },
      gh: {
        'issue create': 'https://github.com/ada/tea/issues/1',
        'issue view': JSON.stringify(issue),
        'issue list': JSON.stringify([issue]),
        'repo view': '{"owner":{"login":"ada"},"name":"tea"}',
        graphql: '{"data":{}}',
        'pr list': '[]',
        comments: '{"id":7,"author":"ada","body":"Brew it."}',
        '': '',
      },
    },
    inputs: {
      'tool project_register': { ...inTea, name: 'tea', repo: '@HOME@', baseBranch: 'main' },
      'tool task_create': { ...inTea, title: 'Green tea' },
      'tool task_list': inTea,
      'tool tasks_status': inTea,
      'tool project_status': inTea,
      'tool task_edit_body': { ...inTea, issueId: 1, title: 'Black tea', body: 'Brew it.' },
      'tool task_comment': { ...inTea, issueId: 1, body: 'It is brewed.' },
      'tool task_attach': { ...inTea, issueId: 1, action: 'list' },
      'tool task_set_level': { ...inTea, issueId: 1, level: 'junior' },
      'tool task_owner': { ...inTea, issueId: 1 },
      'tool research_task': { ...inTea, title: 'Tea', description: 'Kinds of it', dryRun: true },
      'tool task_start': { ...inTea, issueId: 1 },
      'tool work_finish': { ...inTea, role: 'developer', result: 'done' },
      'tool channel_link': { channelId: 'tea-2', project: 'tea' },
      'tool channel_list': { project: 'tea' },
      'tool channel_unlink': { channelId: 'tea-2', project: 'tea', confirm: true },
      'cli devclaw channel register': { args: [...inShop, '-c', 'tea-9'] },
      'cli devclaw channel list': { args: inShop },
      'cli devclaw channel unlink': { args: [...inShop, '-c', 'tea-9', '--yes'] },
    },
    spec: '@laurentenhoor/devclaw@1.6.10',
  },
  {
    id: 'mem0-openclaw-mem0',
    needs: { 'tool *': 'the service of Mem0' },
    inCi: true,
    spec: '@mem0/openclaw-mem0@1.0.16',
    config: { mode: 'platform', apiKey: dummy, userId: 'ada', baseUrl: 'http://@SERVER@' },
  },
  { id: 'mindfoldhq-oh-my-openclaw', inCi: true, spec: '@mindfoldhq/oh-my-openclaw@0.1.11' },
  {
    id: 'mocrane-wecom',
    needs: { 'tool *': 'the service of WeCom', 'channel *': 'the service of WeCom' },
    inputs: {
      'route /plugins/wecom (prefix)': { path: '/plugins/wecom/bot' },
      'route /wecom (prefix)': { path: '/wecom/bot' },
    },
    inCi: true,
    spec: '@mocrane/wecom@2026.3.24',
    openclaw: channel('wecom', { bot: weCom }),
  },
  {
    id: 'nextclaw-channel-plugin-wecom',
    spec: '@nextclaw/channel-plugin-wecom@0.2.55',
    absent: '@nextclaw/channel-runtime',
  },
  { id: 'nicfox77-parakeet-stt', spec: '@nicfox77/parakeet-stt@0.2.9' },
  {
    id: 'ollama-openclaw-web-search',
    inCi: true,
    spec: '@ollama/openclaw-web-search@0.2.2',
    outside: ['127.0.0.1:11434'],
    answers: {
      web_search: { results: [{ title: 'Tea', url: 'http://tea.test', content: 'Green tea' }] },
      web_fetch: { title: 'Tea', content: 'Green tea', links: ['http://tea.test/black'] },
    },
  },
  { id: 'openclaw-china-dingtalk', inCi: true, spec: '@openclaw-china/dingtalk@0.1.19' },
  {
    id: 'openclaw-china-wecom',
    inputs: { 'route / (any)': { path: '/wecom' } },
    openclaw: channel('wecom', weCom),
    spec: '@openclaw-china/wecom@0.1.8',
  },
  { id: 'projectavatar-openclaw-avatar', inCi: true, spec: '@projectavatar/openclaw-avatar@2.2.0' },
  {
    id: 'robertogongora-graphiti',
    config: { url: 'http://@SERVER@' },
    answers: { search: { facts: [] }, episodes: [] },
    inputs: { 'cli graphiti ingest': { args: ['--content', 'green tea', '--name', 'tea'] } },
    inCi: true,
    spec: '@robertogongora/graphiti@0.6.2',
  },
  {
    id: 'simmer-automaton',
    inCi: true,
    spec: 'simmer-automaton@0.7.2',
    config: { apiKey: dummy, apiUrl: 'http://@SERVER@' },
  },
  { id: 'soimy-dingtalk', spec: '@soimy/dingtalk@3.6.7' },
  {
    id: 'tobotorui-wecom',
    inputs: { 'route / (any)': { method: 'GET', path: '/plugins/wecom/message' } },
    openclaw: channel('wecom', weCom),
    spec: '@tobotorui/wecom@1.6.5',
  },
];

/** Packages that were built for OpenClaw 2026.9. */
const later: readonly CorpusPlugin[] = [
  {
    id: 'openclaw-irc',
    spec: '@openclaw/irc@2026.9.5',
    openclaw: channel('irc', { host: '127.0.0.1', port: 1, nick: 'placeholder', tls: false }),
    talks: true,
  },
  {
    id: 'openclaw-nostr',
    spec: '@openclaw/nostr@2026.9.5',
    ...nostr,
  },
  {
    id: 'openclaw-nextcloud-talk',
    spec: '@openclaw/nextcloud-talk@2026.9.5',
    openclaw: channel('nextcloud-talk', { baseUrl: 'http://@SERVER@', botSecret: dummy }),
    talks: true,
  },
  {
    id: 'openclaw-zalo',
    spec: '@openclaw/zalo@2026.9.5',
    openclaw: channel('zalo', { botToken: dummy }),
  },
  {
    id: 'openclaw-synology-chat',
    spec: '@openclaw/synology-chat@2026.9.4',
    openclaw: channel('synology-chat', { token: dummy, incomingUrl: 'http://@SERVER@' }),
    talks: true,
  },
  {
    id: 'openclaw-twitch',
    spec: '@openclaw/twitch@2026.9.4',
    openclaw: channel('twitch', {
      username: 'placeholder',
      accessToken: dummy,
      clientId: 'placeholder',
      channel: 'placeholder',
    }),
  },
].map((plugin) => ({
  ...plugin,
  release: '2026.9.6',
  inCi: true,
}));

/** The plugins that were published for OpenClaw and are tried here: 41 bundled ones, 21 packages of others, and 6 for OpenClaw 2026.9. */
export const corpus: readonly CorpusPlugin[] = [...bundled, ...published, ...later];
