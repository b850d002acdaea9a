// Asks the triggers of a ScaledObject by KEDA's own scalers: a list of triggers with the parameters of their sign-in on
// the first line of standard input, then a line for each poll, which is answered by a line of measures. The scalers live
// as long as the program, as they do in KEDA, and one that fails is made anew for the next poll.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"time"

	v2 "k8s.io/api/autoscaling/v2"

	"github.com/kedacore/keda/v2/pkg/scalers"
	"github.com/kedacore/keda/v2/pkg/scalers/scalersconfig"
)

type trigger struct {
	Type       string
	MetricType v2.MetricTargetType
	Metadata   map[string]string
	AuthParams map[string]string
}

type measure struct {
	Value    float64 `json:"value"`
	Target   float64 `json:"target"`
	IsActive bool    `json:"isActive"`
	Error    string  `json:"error"`
}

func open(ctx context.Context, index int, one trigger) (scalers.Scaler, error) {
	config := &scalersconfig.ScalerConfig{
		TriggerIndex:      index,
		TriggerType:       one.Type,
		TriggerMetadata:   one.Metadata,
		AuthParams:        one.AuthParams,
		MetricType:        one.MetricType,
		GlobalHTTPTimeout: 3 * time.Second,
	}
	if one.Type == "kafka" {
		return scalers.NewKafkaScaler(ctx, config)
	}
	return scalers.NewPrometheusScaler(config)
}

func ask(ctx context.Context, scaler scalers.Scaler) (measure, error) {
	metric := scaler.GetMetricSpecForScaling(ctx)[0].External
	values, isActive, err := scaler.GetMetricsAndActivity(ctx, metric.Metric.Name)
	if err != nil {
		return measure{}, err
	}
	target := metric.Target.AverageValue.AsApproximateFloat64()
	return measure{Value: values[0].Value.AsApproximateFloat64(), Target: target, IsActive: isActive}, nil
}

func main() {
	ctx := context.Background()
	lines := bufio.NewScanner(os.Stdin)
	lines.Scan()
	var triggers []trigger
	if err := json.Unmarshal(lines.Bytes(), &triggers); err != nil {
		panic(err)
	}
	opened := make([]scalers.Scaler, len(triggers))
	for lines.Scan() {
		measures := make([]measure, len(triggers))
		for index, one := range triggers {
			var err error
			if opened[index] == nil {
				opened[index], err = open(ctx, index, one)
			}
			if err == nil {
				measures[index], err = ask(ctx, opened[index])
			}
			if err != nil {
				measures[index] = measure{Error: err.Error()}
				if opened[index] != nil {
					_ = opened[index].Close(ctx)
				}
				opened[index] = nil
			}
		}
		if err := json.NewEncoder(os.Stdout).Encode(measures); err != nil {
			panic(err)
		}
	}
}
