import { exitCodes } from '../../platform/errors.ts';
import type { Option } from '../../run/option.ts';
import { flagOf } from '../../run/parse-option.ts';
import { globalOptions, requestOptions, writeOptions } from '../global-options.ts';
import type { HelpItem, HelpSection } from './page.ts';

const meanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  unexpected: 'unexpected failure: a bug, or something not below',
  usage: 'wrong usage, or input refused; the message names the flag, file, line or field',
  authentication: 'not authenticated or not allowed',
  not_found: 'not found',
  conflict: 'refused because of state: already exists, not cancellable, return not allowed',
  payment: 'payment: the wallet cannot cover it, or a payment was declined',
  ended_badly:
    'the order or some rows failed, were cancelled or are invalid, or the retailer refused the order at once',
  deadline: '--timeout passed while waiting; the order or batch continues',
  unavailable: 'the service cannot be reached, is unavailable or rate-limits; nothing is in doubt',
  in_doubt: 'in doubt: money may have moved and no response came; the message says how to find out',
  policy: 'your own policy refused it, or an approval is missing; nothing was sent (`errand help policy`)',
  interrupted: 'interrupted (Ctrl-C), or a question was answered with no; what is in doubt is in the journal',
  terminated: 'terminated; what is in doubt is in the journal',
};

/**
 * The options of every command, and the options of every command that sends requests. They are formatted as in the help
 * of a command.
 */
const options: Readonly<Record<string, string>> = Object.fromEntries([
  ...Object.entries<Option>({ ...globalOptions, ...requestOptions, ...writeOptions }).map(([key, option]) => [
    `${option.short ? `-${option.short}, ` : ''}${flagOf(key)}${option.placeholder ? ` <${option.placeholder}>` : ''}`,
    option.description,
  ]),
  ['--no-input', 'never ask'],
  ['--no-pager', 'print at once what is longer than the terminal'],
  ['-h, --help', 'show help'],
]);

const environment: Readonly<Record<string, string>> = {
  ERRAND_API_KEY: 'key for the service',
  ERRAND_BASE_URL: 'base URL of the service; `embedded:` is the built-in sandbox',
  ERRAND_LEGACY_BASE_URL: 'base URL of the legacy v1 surface',
  ERRAND_LEGACY_TOKEN: 'client token of the legacy v1 surface',
  ERRAND_PROFILE: 'profile to use',
  ERRAND_CONFIG_DIR: 'folder of the configuration, an absolute path',
  ERRAND_STATE_DIR: 'folder of the journal and the sandbox data, an absolute path',
  ERRAND_POLICY: 'policy file, an absolute path (`errand help policy`)',
  ERRAND_POLICY_SIGNER: 'fingerprint of the one key whose published policies are followed',
  ERRAND_DATABASE_URL: 'PostgreSQL database that keeps the journal for several machines',
  ERRAND_OUTPUT: 'output format',
  ERRAND_TIMEOUT: 'give up after this long: 30s',
  ERRAND_DUPLICATE_WINDOW:
    'how long an order like an earlier one is taken for a duplicate: 12h, or 0 for never',
  ERRAND_DEBUG: 'set: trace requests on stderr',
  ERRAND_NO_INPUT: 'set: never ask',
  CI: 'set: never ask',
  NO_COLOR: 'set: no colour',
  PAGER: 'shows what is longer than the terminal; empty: nothing does (default less -FRX)',
  ACCESSIBLE: 'set: numbered questions, nothing redrawn; lines: tables as labelled lines too',
  VISUAL: 'editor of `errand config edit`; else EDITOR',
  FORCE_COLOR: 'set: colour even when not on a terminal',
  HTTPS_PROXY: 'proxy for the network; NO_PROXY lists what goes without it',
  XDG_CACHE_HOME: 'folder of caches, an absolute path; compiled code in its folder errand',
};

const itemsOf = (rows: Readonly<Record<string, string>>): HelpItem[] =>
  Object.entries(rows).map(([term, text]) => ({ term, text }));

/** Right-aligned numbers. */
const exitItems: readonly HelpItem[] = [
  { term: '  0', text: 'done' },
  ...Object.entries(meanings).map(([category, text]) => ({
    term: String(exitCodes[category as keyof typeof exitCodes]).padStart(3),
    text,
  })),
];

export interface HelpTopic extends HelpSection {
  /** Short summary for the list of man pages. */
  readonly summary: string;
}

/** The topics of `errand help TOPIC`. */
export const topics: Readonly<Record<string, HelpTopic>> = {
  'exit-codes': {
    title: 'Exit codes',
    summary: 'what the exit code of errand says',
    parts: [
      { items: exitItems },
      { text: 'With several ids, errand tries each one and exits with the code of the first failure.' },
    ],
  },
  options: {
    title: 'Global options',
    summary: 'options of every command',
    parts: [
      {
        text: 'They may stand anywhere on the line. --curl is of commands that call the service, --dry-run of those that write.',
      },
      { items: itemsOf(options) },
    ],
  },
  environment: {
    title: 'Environment variables',
    summary: 'environment variables that errand reads',
    parts: [{ text: 'Flags override them; they override the profile.' }, { items: itemsOf(environment) }],
  },
  output: {
    title: 'Output',
    summary: 'streams and formats of what errand prints',
    parts: [
      { text: 'stdout carries data only; progress, hints and errors go to stderr.' },
      {
        items: itemsOf({
          '-o table': 'for people: fits the terminal, drops the least important columns first',
          '-o json': "the service's own record; a list is one array",
          '-o ndjson': 'one record a line, as they come',
          '-o csv|tsv':
            "columns with a header; formula-like cells are escaped with a ' (--raw-csv leaves them)",
          '--excel':
            'a CSV begins with a byte order mark: Excel reads it as UTF-8; files of --errors and --to too',
          '-o yaml': 'as json',
          '-o id': 'one id a line, to pipe into another command',
          '--fields id,items.0.url': 'picks and orders columns, in every format',
          "--query 'items[].url'": 'JMESPath over the JSON',
        }),
      },
      {
        text: 'With -o json or ndjson a failure is one JSON object on stderr. A result that ended badly is printed on stdout like every other, and the exit code says how it ended. `errand schema output` shows what each command prints with -o json, and with a name its JSON Schema.',
      },
    ],
  },
  ids: {
    title: 'Ids',
    summary: 'what stands for an id on a terminal: its beginning, or the number of a row',
    parts: [
      {
        text: "On a terminal an id can be its beginning, of eight characters or more, as tables show it, or the number of its row in the last list: @1, @2 (in PowerShell '@2'). A product is named by its row too, in place of its URL.",
      },
      {
        items: itemsOf({
          'errand order get 9e2919b9': 'the order whose id begins so; an error if several do',
          'errand order cancel @2':
            'the second row of the last `order list`; what is cancelled is told first',
          'errand order create --product @2': 'what the second row of `search` shows',
        }),
      },
      {
        text: 'A beginning is looked up in the last list, on this machine, and for orders and returns at the service. Row numbers are those of the last list that this terminal printed, for an hour, with the same profile and service; acting on a row does not change the numbers.',
      },
      {
        text: 'Scripts, pipes and --no-input take whole ids: `-o id` prints them, and - reads them from stdin.',
      },
    ],
  },
  money: {
    title: 'Money',
    summary: 'how errand reads prices, and makes one order of one intent',
    parts: [
      {
        text: "A price flag takes currency units with a sign or decimals: --max-price '$50', 50.00, 'USD 50'.",
      },
      { text: 'Its -cents twin takes an integer: --max-price-cents 5000.' },
      {
        text: 'A bare integer (--max-price 5000) is refused, since it can be read both ways. USD is the only currency.',
      },
      { text: "JSON and YAML files carry the service's integer cents." },
      {
        text: 'In a CSV, max_price_cents is cents, and max_price is dollars with a sign or decimals in every row ($45.00, 45.00).',
      },
      {
        text: 'Bare whole numbers under max_price are refused unless --amounts or `errand config set amounts` says units or cents.',
      },
      { text: 'max_price is a ceiling: an order that would cost more fails and nothing is charged.' },
      {
        text: 'One intent is one order: every order has an idempotency key that is written to the journal before it is sent.',
      },
      {
        text: 'An identical order within ten minutes is refused as a repeated command, unless the first failed or was cancelled; --new orders another.',
      },
      {
        text: 'For spending, refunds and held amounts: `errand spend`; for hledger, beancount or banking software: `errand spend export`.',
      },
      {
        text: 'A tamper-evident log records every step that touches money: `errand audit log`, `errand audit verify`.',
      },
      {
        text: "`errand order explain ID` tells one order's whole story; `errand reconcile` compares all orders with the service, to the cent.",
      },
    ],
  },
  policy: {
    title: 'Policy',
    summary: 'a file that limits what errand may spend',
    parts: [
      {
        text: 'A policy file limits spending. Every order is checked against it before it is sent, whichever command sends it: order create, agent order create, bulk upload and retry, api. Without the file, spending is not limited. `errand policy init` writes one with comments: policy.yaml in the configuration folder, or the file that ERRAND_POLICY or the profile names.',
      },
      {
        text: 'Amounts are ceiling and fee together: limits for an order, a day, a month and an upload, for all orders or for a part of them (a retailer, metadata). Days and months are those of its time_zone.',
      },
      {
        text: "The amount is reserved together with the order's record in the journal, so that processes that race cannot pass a limit.",
      },
      {
        text: 'Orders in doubt count as spent. Failed and cancelled orders are released, and placed orders count at their actual cost, which is read before a limit refuses an order. An idempotency key is reserved only once.',
      },
      { text: 'Counting begins with the policy: orders placed before there was one do not count.' },
      { text: 'Refused: exit 11, nothing was sent, and the message names rule, limit and what is left.' },
      {
        text: '`order journal resume` is never refused: what may have been sent must be settled. `legacy retry` is, since nobody knows what it buys. Data calls of `agent` (a cent each) are held to --max-pay alone.',
      },
      {
        text: "A file that cannot be read or understood, or that others could change, stops every order; so does a folder above errand's own that others could change, and a retailer's name that the service does not know. The file is read again when the order is recorded, since a prompt may stay open for hours.",
      },
      {
        text: "Above an amount (approve), or for a likely duplicate, a person must approve the order. The command requests approval, prints its id and exits 11, or waits with --wait-approval 1h; after `errand approval approve ID`, run the same command again: it goes through. An approval covers that order (address, products, quantities, account, profile) at that total or less, once, for 24 hours unless `expires` says otherwise; a definite refusal by the service restores it. It is signed with the order's idempotency key, so it orders once on whichever machine it is used; an upload is approved whole, with every row's ceiling.",
      },
      { text: 'A denial applies to the same order at the same total.' },
      {
        text: 'With `approvers: [ada.pub]` an approval is a signature by one of these SSH keys, made on any machine; `approval export` writes it to a file, which a CI job passes with --approval. Without approvers, anyone at a terminal types the amount: a second look, not a second person. Only a signature proves a person: a program can type at a terminal.',
      },
      {
        text: "--override-policy 'reason' places the order anyway: at a terminal after you type its amount or, if there are approvers, with a signature as for an approval. `overrides: never` rules that out.",
      },
      {
        text: 'Machines that share a database follow the policy that is published there, if it is signed, is the last that was published, and its signer is trusted: the first seen at a terminal, the one that `errand policy trust` names, or ERRAND_POLICY_SIGNER, which a machine without a terminal needs. Whatever else stands there stops every order with exit 11.',
      },
      { text: 'Anyone who can write the file can change it: on your own account it is a guard, not a lock.' },
      {
        items: itemsOf({
          'errand policy show': 'every rule with its line',
          'errand policy check': 'check an order or a CSV before anything is sent',
          'errand policy usage': 'what each limit has left',
          'errand policy init': 'write a policy file to start from',
          'errand policy publish': 'sign it for all machines that share a database',
          'errand policy trust': "follow a publisher's policies on this machine",
          'errand approval list': 'what is waiting for approval',
        }),
      },
    ],
  },
};
