/** Sends mails. Environment: SMTP_URL (such as smtps://user:password@mail.example.com), MAIL_FROM, MAIL_TO, and the variables of receive.ts. */
import { createTransport } from 'nodemailer';
import { receiveNotices } from './receive';

const { SMTP_URL = '', MAIL_FROM = '', MAIL_TO = '' } = process.env;
const server = createTransport(SMTP_URL);

receiveNotices(async ({ title, text, buttons }, id) => {
  await server.sendMail({
    ...{ from: MAIL_FROM, to: MAIL_TO, subject: title, messageId: `<${id}@notices.example.com>` },
    text: [text, ...buttons.map((button) => `${button.text}: ${button.url}`)].join('\n\n'),
  });
});
