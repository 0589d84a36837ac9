package measure

import (
	"math"
	"slices"
)

// Estimate is a mean over seeds and the half of its 95 % confidence interval.
type Estimate struct{ Mean, Half float64 }

// Over seeds. With one value the interval is unknown, and 0. If all are the same it is 0 exactly, not what a sum rounds to.
func Over(values []float64) Estimate {
	n := float64(len(values))
	if n < 2 || slices.Min(values) == slices.Max(values) {
		return Estimate{Mean: mean(values)}
	}
	return Estimate{mean(values), student(n-1) * deviation(values) / math.Sqrt(n)}
}

// student is the 97.5 % quantile of Student's distribution, by an expansion around the normal one (Abramowitz and Stegun,
// 26.7.5) that is within 0.3 % from four degrees of freedom on, and from a table for the few below.
func student(freedom float64) float64 {
	switch {
	case freedom < 4:
		return []float64{12.706, 4.303, 3.182}[int(freedom)-1]
	default:
		const z = 1.959964
		z3, z5, z7 := z*z*z, z*z*z*z*z, z*z*z*z*z*z*z
		return z + (z3+z)/(4*freedom) + (5*z5+16*z3+3*z)/(96*freedom*freedom) +
			(3*z7+19*z5+17*z3-15*z)/(384*freedom*freedom*freedom)
	}
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return ratio(sum, float64(len(values)))
}

// deviation is the standard deviation of a sample.
func deviation(values []float64) float64 {
	if len(values) < 2 {
		return 0
	}
	m, sum := mean(values), 0.0
	for _, v := range values {
		sum += (v - m) * (v - m)
	}
	return math.Sqrt(sum / float64(len(values)-1))
}

// quantile of sorted values: the least at or below which so large a part lies; 0 if there are none.
func quantile(sorted []float64, part float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, int(math.Ceil(part*float64(len(sorted))))-1)]
}

// Gini coefficient of values of 0 or more: 0 if all are equal, near 1 if one has everything.
func Gini(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	sum, weighed, n := 0.0, 0.0, float64(len(sorted))
	for i, v := range sorted {
		sum += v
		weighed += float64(i+1) * v
	}
	if sum == 0 {
		return 0
	}
	return 2*weighed/(n*sum) - (n+1)/n
}

// ratio is 0 where there is nothing to divide by.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
