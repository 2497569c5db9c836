export interface Notice {
  readonly type: string;
  readonly data: {
    readonly run: string;
    readonly agent: string;
    readonly url?: string;
    readonly interrupt?: { readonly tool?: string; readonly input?: unknown; readonly info?: unknown };
    readonly links?: readonly { readonly for: string; readonly url: string }[];
    readonly error?: { readonly message: string };
  };
}

export function messageOf({ type, data: { run, agent, url, interrupt, links = [], error } }: Notice) {
  const asked = interrupt && `${interrupt.tool ?? 'question'} ${JSON.stringify(interrupt.input ?? interrupt.info)}`;
  const buttons = links.map((link) => ({ text: `Decide as ${link.for}`, url: link.url }));
  return {
    title: `${agent}: ${type}`,
    text: [run, asked, error?.message].filter((part) => part !== undefined).join('\n'),
    buttons: url === undefined ? buttons : [...buttons, { text: 'Open the run', url }],
  };
}
