// The passages of the demo's handbook, with questions.

export interface Question {
  question: string;
  answer: string;
  /** A hallucinated answer. */
  invented: string;
}

export interface Passage {
  id: string;
  title: string;
  text: string;
  questions: [Question, Question, Question];
}

export const PASSAGES: Passage[] = [
  {
    id: 'meter-install',
    title: 'Mounting the meter',
    text: 'The meter is mounted on a 35 mm rail in the distribution board. Switch off the main breaker first. Each of the three clamps goes around one phase, arrow towards the consumer. Mounting takes about twenty minutes and must be signed off by an electrician.',
    questions: [
      {
        question: 'Which way do the arrows of the clamps point?',
        answer: 'Towards the consumer, one clamp around each phase.',
        invented: 'Towards the grid, so that exports count as positive.',
      },
      {
        question: 'May I mount the meter by myself?',
        answer: 'You may mount it, but an electrician has to sign it off.',
        invented: 'Yes, no electrician is needed for devices below 100 A.',
      },
      {
        question: 'What does the meter sit on?',
        answer: 'On a 35 mm rail in the distribution board.',
        invented: 'On the wall beside the board, with four screws.',
      },
    ],
  },
  {
    id: 'wifi-reset',
    title: 'Joining another network',
    text: 'Hold the button for ten seconds until the light blinks violet. The meter then forgets its network and opens its own, named HALDEN-SETUP, for fifteen minutes. Readings of the last thirty days stay on the device.',
    questions: [
      {
        question: 'How do I make the meter forget my old Wi-Fi?',
        answer: 'Hold the button for ten seconds until the light blinks violet.',
        invented: 'Delete the device in the app and add it again.',
      },
      {
        question: 'Do I lose readings when I reset the network?',
        answer: 'No. Readings of the last thirty days stay on the device.',
        invented: 'Yes, all readings that were not uploaded are lost.',
      },
      {
        question: 'How long is HALDEN-SETUP open?',
        answer: 'For fifteen minutes.',
        invented: 'Until the meter has joined another network.',
      },
    ],
  },
  {
    id: 'tariffs',
    title: 'Tariffs that change by the hour',
    text: 'With an hourly tariff the app shows tomorrow’s prices from 14:00. Devices can be told to run in the cheapest hours; a limit per day is set under Automations. Prices include taxes, but not the fee of the network.',
    questions: [
      {
        question: 'From when can I see tomorrow’s prices?',
        answer: 'From 14:00 on the day before.',
        invented: 'From midnight of the same day.',
      },
      {
        question: 'Are network fees part of the prices shown?',
        answer: 'No. They include taxes, but not the fee of the network.',
        invented: 'Yes, the prices are what you pay in the end.',
      },
      {
        question: 'Where do I set the limit per day for devices?',
        answer: 'Under Automations.',
        invented: 'Under Settings, Devices, Limits.',
      },
    ],
  },
  {
    id: 'solar',
    title: 'Solar power and batteries',
    text: 'A fourth clamp measures the inverter. Self-consumption is production less export, shown for each hour. Batteries of six makers are read over the local network; the reserve for a power cut is 10% unless you change it.',
    questions: [
      {
        question: 'How is self-consumption worked out?',
        answer: 'It is production less export, for each hour.',
        invented: 'It is consumption divided by production over a day.',
      },
      {
        question: 'What reserve does the battery keep?',
        answer: '10%, unless you change it.',
        invented: 'It keeps 20% in winter and none in summer.',
      },
      {
        question: 'What does the fourth clamp do?',
        answer: 'It measures the inverter.',
        invented: 'It measures the car’s charger.',
      },
    ],
  },
  {
    id: 'privacy',
    title: 'What leaves the house',
    text: 'Readings are stored in Finland and encrypted with a key of your household. Members of the household see the same figures. Sharing with your supplier is off until you switch it on, and can be ended at any time; what was shared is deleted within thirty days.',
    questions: [
      {
        question: 'Where are my readings stored?',
        answer: 'In Finland, encrypted with a key of your household.',
        invented: 'On your phone only.',
      },
      {
        question: 'Does my electricity supplier see my consumption?',
        answer: 'Only after you switch sharing on; it is off at first.',
        invented: 'Yes, suppliers receive readings each night.',
      },
      {
        question: 'What happens to shared data when I stop sharing?',
        answer: 'It is deleted within thirty days.',
        invented: 'It is kept for two years, as the law demands.',
      },
    ],
  },
  {
    id: 'alerts',
    title: 'Alerts',
    text: 'An alert is sent when consumption at night is twice the usual, when a phase fails, or when the meter has been offline for an hour. Each can be silenced for a week. Alerts on failed phases come as a call as well, if you leave a number.',
    questions: [
      {
        question: 'When does the app warn me of an offline meter?',
        answer: 'After it has been offline for an hour.',
        invented: 'After five minutes without a reading.',
      },
      {
        question: 'Can I be called when a phase fails?',
        answer: 'Yes, if you leave a number.',
        invented: 'No, alerts come by e-mail alone.',
      },
      {
        question: 'For how long can an alert be silenced?',
        answer: 'For a week.',
        invented: 'For as long as you like.',
      },
    ],
  },
  {
    id: 'car',
    title: 'Charging a car',
    text: 'The charger and the meter share the connection’s limit: the car gets what the house leaves. With “By departure”, the car is full at the time you set, charged in the cheapest hours. Below 6 A, charging pauses.',
    questions: [
      {
        question: 'Why does my car stop charging when the oven is on?',
        answer: 'The car gets what the house leaves of the connection’s limit; below 6 A charging pauses.',
        invented: 'The oven and the charger are on one phase, which is a fault.',
      },
      {
        question: 'What does “By departure” do?',
        answer: 'The car is full at the time you set, charged in the cheapest hours.',
        invented: 'The car starts to charge at the time you set.',
      },
      {
        question: 'What is the lowest current for charging?',
        answer: '6 A; below that, charging pauses.',
        invented: '10 A on every phase.',
      },
    ],
  },
  {
    id: 'export',
    title: 'Taking your data with you',
    text: 'Readings can be exported as CSV by the minute for the last thirty days, and by the hour for all years. The local interface answers JSON on port 8080 and needs a token, which is shown once under Developers.',
    questions: [
      {
        question: 'How far back can I export minute by minute?',
        answer: 'For the last thirty days.',
        invented: 'For a whole year.',
      },
      {
        question: 'Where do I find the token for the local interface?',
        answer: 'Under Developers, where it is shown once.',
        invented: 'It is printed on the back of the meter.',
      },
      {
        question: 'Which port does the local interface use?',
        answer: 'Port 8080.',
        invented: 'Port 443, with TLS.',
      },
    ],
  },
];
