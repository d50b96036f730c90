#include "monitor/redact.h"

#include <gtest/gtest.h>

namespace fathom::monitor {
namespace {

struct Line {
  const char* command;
  const char* shown;
};

class Redact : public testing::TestWithParam<Line> {};

TEST_P(Redact, MasksSecretsAndNothingElse) {
  EXPECT_EQ(redacted(GetParam().command), GetParam().shown);
}

INSTANTIATE_TEST_SUITE_P(
    Lines, Redact,
    testing::Values(
        Line{"", ""}, Line{"python3 train.py --epochs 90", "python3 train.py --epochs 90"},
        Line{"a  b\tc", "a  b\tc"}, Line{"app --password hunter2 -v", "app --password *** -v"},
        Line{"app --password=hunter2", "app --password=***"},
        Line{"app -password hunter2", "app -password ***"},
        Line{"app --api-key abc123 x", "app --api-key *** x"},
        Line{"app --hf_token abc", "app --hf_token ***"},
        Line{"WANDB_API_KEY=0123456789abcdef python3 x.py", "WANDB_API_KEY=*** python3 x.py"},
        Line{"env AWS_SECRET_ACCESS_KEY=x app", "env AWS_SECRET_ACCESS_KEY=*** app"},
        Line{"app --secret --verbose", "app --secret --verbose"},
        Line{"curl https://me:pw@host/x", "curl https://***@host/x"},
        Line{"git clone https://token@host/x.git", "git clone https://***@host/x.git"},
        Line{"curl http://host:80/x?a=1&token=abc&b=2", "curl http://host:80/x?a=1&token=***&b=2"},
        Line{"psql postgres://u:p@db:5432/x", "psql postgres://***@db:5432/x"},
        Line{"curl -H Authorization: Bearer abc.def x", "curl -H Authorization: Bearer *** x"},
        Line{"curl -H X-Api-Key: abc x", "curl -H X-Api-Key: *** x"},
        Line{"app hf_abcdefghijklmnopqrst", "app ***"},
        Line{"app --login=ghp_abcdefghijklmnopqrstuvwxyz", "app --login=***"},
        Line{"app AKIAIOSFODNN7EXAMPLE", "app ***"},
        Line{"app eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "app ***"},
        Line{"vllm serve m --max-tokens 4096 --tokenizer-mode auto",
             "vllm serve m --max-tokens 4096 --tokenizer-mode auto"},
        Line{"app --max-num-batched-tokens=8192", "app --max-num-batched-tokens=8192"},
        Line{"app --tokenizer meta/llama", "app --tokenizer meta/llama"},
        Line{"app --keyboard us monkey=1", "app --keyboard us monkey=1"},
        Line{"app C:/x key=7", "app C:/x key=***"},
        Line{"/home/alice/venv/bin/python /home/bob/train.py --data=/home/eve:/data",
             "/home/***/venv/bin/python /home/***/train.py --data=/home/***:/data"},
        Line{"app /Users/alice /home/ /homes/x", "app /Users/*** /home/ /homes/x"}));

}  // namespace
}  // namespace fathom::monitor
