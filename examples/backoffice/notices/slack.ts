/** Posts to a channel of Slack. Environment: SLACK_URL (an incoming webhook of Slack), and the variables of receive.ts. */
import { receiveNotices } from './receive';

const slack = process.env['SLACK_URL'] ?? '';
const plain = (text: string, most: number) => ({ type: 'plain_text', text: text.slice(0, most) });

receiveNotices(async ({ title, text, buttons }) => {
  const elements = buttons.slice(0, 25).map((button) => ({ type: 'button', text: plain(button.text, 75), url: button.url }));
  const blocks = [
    { type: 'header', text: plain(title, 150) },
    { type: 'section', text: plain(text, 3000) },
    ...(elements.length === 0 ? [] : [{ type: 'actions', elements }]),
  ];
  const response = await fetch(slack, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text: title, blocks }),
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok) throw new Error(`Slack answered ${response.status}: ${await response.text()}`);
});
