// Questions of the demo shop's customers, with the facts of good answers.

export interface Topic {
  id: string;
  questions: string[];
  /** The facts of a good answer, most important first. */
  facts: [string, string, string];
  wrong: string;
  tool: { name: string; arguments: Record<string, unknown>; result: unknown };
}

export const TOPICS: Topic[] = [
  {
    id: 'return-window',
    questions: [
      'I bought a tent five weeks ago and never opened it. Can I still send it back?',
      'How long do I have to return a jacket that does not fit?',
      'The boots are too small. What is the deadline for a return?',
    ],
    facts: [
      'You can return unused items within 60 days of delivery.',
      'The return label is free and waits for you under “My orders”.',
      'The refund reaches your account within five working days after the parcel arrives.',
    ],
    wrong: 'Returns are possible within 14 days, so I am afraid that it is too late.',
    tool: {
      name: 'lookup_order',
      arguments: { order: 'FW-48213' },
      result: { status: 'delivered', daysAgo: 35 },
    },
  },
  {
    id: 'late-parcel',
    questions: [
      'My parcel was due on Monday and there is still nothing here. Where is it?',
      'Tracking has not moved for four days. Is my order lost?',
      'When will order FW-50127 finally arrive?',
    ],
    facts: [
      'Your parcel is at the depot in Lyon and goes out for delivery tomorrow.',
      'Storms closed the depot for two days, which is why tracking stood still.',
      'If it is not with you by Friday, we send a replacement at no cost.',
    ],
    wrong: 'Your parcel was delivered this morning and signed for by you.',
    tool: {
      name: 'track_parcel',
      arguments: { order: 'FW-50127', carrier: 'chronopost' },
      result: { state: 'at depot', place: 'Lyon', delay: 'weather', expected: '2026-11-06' },
    },
  },
  {
    id: 'warranty',
    questions: [
      'The zip of my sleeping bag broke after a year. Is that covered?',
      'My stove does not light any more. Do I have a guarantee on it?',
      'How do I claim the warranty for trekking poles?',
    ],
    facts: [
      'Every product carries a three-year warranty on material and workmanship.',
      'Send two photos of the damage through the warranty form, and we answer within two working days.',
      'We repair first, and replace what cannot be repaired.',
    ],
    wrong: 'The warranty ends after twelve months, so a repair would be charged.',
    tool: {
      name: 'search_articles',
      arguments: { query: 'warranty zip' },
      result: ['warranty-terms', 'repairs'],
    },
  },
  {
    id: 'change-address',
    questions: [
      'I moved last week. Can you send my open order to the new address?',
      'I typed the wrong house number. How do I correct it?',
      'Please deliver to my office instead of my home.',
    ],
    facts: [
      'I have changed the delivery address of your open order.',
      'A confirmation with the new address is on its way to your inbox.',
      'Your saved address stays as it was; you can change it under “Profile”.',
    ],
    wrong: 'An address cannot be changed once an order is placed; please order again.',
    tool: {
      name: 'update_address',
      arguments: { order: 'FW-50644', street: 'Rue des Lilas 8', city: 'Nantes' },
      result: { ok: true, confirmation: 'sent' },
    },
  },
  {
    id: 'double-charge',
    questions: [
      'My card was charged twice for one order. Why?',
      'There are two payments of €129 on my statement. I ordered once!',
      'Please refund the second payment for FW-49980.',
    ],
    facts: [
      'The second amount is a reservation by your bank and was never booked by us.',
      'It disappears automatically within three to five working days.',
      'Should it be booked after all, reply here and we refund it on the same day.',
    ],
    wrong: 'I have refunded both payments, and your order is cancelled.',
    tool: {
      name: 'list_payments',
      arguments: { order: 'FW-49980' },
      result: [
        { amount: 129, state: 'captured' },
        { amount: 129, state: 'authorised' },
      ],
    },
  },
  {
    id: 'discount-code',
    questions: [
      'The code AUTUMN15 is refused at the checkout. What is wrong?',
      'Can I use two discount codes on one order?',
      'I forgot to enter my code. Can you take it off afterwards?',
    ],
    facts: [
      'One code can be used for each order, from a value of €60.',
      'Codes do not apply to items that are reduced already.',
      'Ordered within the last 24 hours? Then I can take the discount off afterwards.',
    ],
    wrong: 'The code has expired, and there is no other one at the moment.',
    tool: {
      name: 'check_code',
      arguments: { code: 'AUTUMN15' },
      result: { valid: true, minimum: 60, combinable: false },
    },
  },
  {
    id: 'cancel-membership',
    questions: [
      'I want to cancel my Trail Club membership today.',
      'How do I get out of the yearly plan?',
      'Do I get money back if I leave the club in the middle of the year?',
    ],
    facts: [
      'Your membership is cancelled as of the end of the paid period, 14 March 2027.',
      'You keep free delivery and member prices until then.',
      'Months that have begun are not refunded; unused whole years are.',
    ],
    wrong: 'To cancel, please call us between 9 and 11 on weekdays.',
    tool: { name: 'cancel_membership', arguments: { member: 'TC-20931' }, result: { endsOn: '2027-03-14' } },
  },
  {
    id: 'stock-alert',
    questions: [
      'When is the Alpine 45 backpack in green available again?',
      'Can you tell me when size 42 is back in stock?',
      'Is the family tent still in any of your shops?',
    ],
    facts: [
      'The next delivery is expected in the week of 23 November.',
      'I have set an alert; you get one e-mail on the day it is back.',
      'The shop in Annecy has two left today, if you can call by.',
    ],
    wrong: 'This article is no longer made, and will not come back.',
    tool: {
      name: 'check_stock',
      arguments: { article: 'ALP-45-GRN' },
      result: { online: 0, shops: { Annecy: 2 }, nextDelivery: '2026-11-23' },
    },
  },
];

export const CUSTOMERS = [
  { name: 'Amélie Durand', plan: 'Trail Club', country: 'FR', locale: 'fr-FR', orders: 14 },
  { name: 'Jonas Weber', plan: 'guest', country: 'DE', locale: 'de-DE', orders: 1 },
  { name: 'Priya Nair', plan: 'Trail Club', country: 'GB', locale: 'en-GB', orders: 32 },
  { name: 'Mateo García', plan: 'standard', country: 'ES', locale: 'es-ES', orders: 5 },
];
